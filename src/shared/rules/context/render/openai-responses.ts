import type { SentFile } from "./files.ts";
import { headerOf, type Said } from "./lanes.ts";
import { PREAMBLE } from "./preamble.ts";
import { dataUrl, type Prompt } from "./prompt.ts";

type InputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url: string }
  | { type: "input_file"; filename: string; file_data: string };

interface InputMessage {
  role: Said["lane"];
  content: string | InputPart[];
}

/** The body of OpenAI's `POST /v1/responses`, without model and sampling. */
export interface ResponsesRequest {
  tools?: {
    type: "function";
    name: string;
    description?: string;
    parameters: Record<string, unknown>;
    strict: false;
  }[];
  input: InputMessage[];
}

/** A prompt for OpenAI's Responses (RENDER-1): the preamble, a message an item in its own role, the time. */
export function responsesRequest(prompt: Prompt): ResponsesRequest {
  const input: InputMessage[] = [{ role: "system", content: PREAMBLE }];
  for (const item of prompt.history) {
    const files = prompt.sent(item).map(part);
    if (files.length === 0) input.push({ role: item.lane, content: item.text });
    else if (item.lane === "user")
      input.push({ role: "user", content: [{ type: "input_text", text: item.text }, ...files] });
    // Only a user's message may carry files.
    else
      input.push(
        { role: item.lane, content: item.text },
        { role: "user", content: [{ type: "input_text", text: headerOf(item) }, ...files] },
      );
  }
  if (prompt.time !== undefined) input.push({ role: "user", content: prompt.time });
  if (prompt.tools.length === 0) return { input };
  return {
    tools: prompt.tools.map(({ name, description, parameters }) => ({
      type: "function",
      name,
      ...(description !== undefined && { description }),
      parameters,
      strict: false,
    })),
    input,
  };
}

function part(file: SentFile): InputPart {
  return file.type === "application/pdf"
    ? { type: "input_file", filename: file.filename, file_data: dataUrl(file) }
    : { type: "input_image", detail: "auto", image_url: dataUrl(file) };
}
