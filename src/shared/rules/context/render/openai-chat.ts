import type { SentFile } from "./files.ts";
import { headerOf } from "./lanes.ts";
import { PREAMBLE } from "./preamble.ts";
import { dataUrl, type Prompt } from "./prompt.ts";

type UserPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

type ChatMessage =
  | { role: "system" | "developer" | "assistant"; content: string }
  | { role: "user"; content: string | UserPart[] };

/** The body of `POST /v1/chat/completions`, OpenAI's or another's, without model and sampling. */
export interface ChatRequest {
  tools?: {
    type: "function";
    function: { name: string; description?: string; parameters: Record<string, unknown> };
  }[];
  messages: ChatMessage[];
}

/**
 * A prompt for Chat Completions (RENDER-1): as for Responses, with developer as system unless the endpoint is known
 * to have it. OpenAI takes the one for the other; others refuse a role that they do not know.
 */
export function chatRequest(prompt: Prompt, developer: "system" | "developer" = "system"): ChatRequest {
  const messages: ChatMessage[] = [{ role: "system", content: PREAMBLE }];
  for (const item of prompt.history) {
    const role = item.lane === "developer" ? developer : item.lane;
    const files = prompt.sent(item).map(part);
    if (files.length === 0) messages.push({ role, content: item.text });
    else if (role === "user") messages.push({ role, content: [{ type: "text", text: item.text }, ...files] });
    // Only a user's message may carry files.
    else
      messages.push(
        { role, content: item.text },
        { role: "user", content: [{ type: "text", text: headerOf(item) }, ...files] },
      );
  }
  if (prompt.time !== undefined) messages.push({ role: "user", content: prompt.time });
  if (prompt.tools.length === 0) return { messages };
  return {
    tools: prompt.tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, ...(description !== undefined && { description }), parameters },
    })),
    messages,
  };
}

function part(file: SentFile): UserPart {
  return file.type === "application/pdf"
    ? { type: "file", file: { filename: file.filename, file_data: dataUrl(file) } }
    : { type: "image_url", image_url: { url: dataUrl(file) } };
}
