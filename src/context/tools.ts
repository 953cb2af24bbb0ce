/**
 * The tools that a model is given: what they take, how they are told to the model, and who carries a call out. A
 * call's input is checked here, so that what is wrong in it is told to the model in words (CTX-9).
 */
import * as z from "zod";
import type { ToolDefinition } from "../shared/rules/context/render/index.ts";
import { saidOfSchema } from "../shared/rules/schema-faults.ts";
import type { ItemFile } from "../shared/wire/context/item.ts";

/** A call of an answer that counts (CTX-9). */
export interface Call {
  /** `exe_<request offset>_<n>`: whoever carries it out twice makes one thing of it. */
  id: string;
  /** Of the stream that it is made in. */
  path: string;
  tool: string;
  input: unknown;
}

/** A file that goes with a result, as an item carries it. */
export type ResultFile = ItemFile;

export interface ToolResult {
  ok: boolean;
  /** JSON. With `ok: false` one sentence that says what to do. */
  output: unknown;
  files?: ResultFile[] | undefined;
}

/** What a tool is to a model. */
export interface ToolSpec {
  /** Letters, digits, `_` and `-`. */
  name: string;
  description: string;
  /** An object's schema. */
  input: z.ZodType;
}

/** A tool that this process has itself. */
export interface OwnTool extends ToolSpec {
  /** Its answer is the output; what it throws is a result that is not ok, with the error's message. */
  run(input: unknown, call: Call, signal: AbortSignal): unknown;
}

/** Carries calls out. It throws only when nothing can be said of the call now: then it is tried again. */
export interface ToolHost {
  readonly tools: readonly ToolSpec[];
  /** `later`: it is on its way, and the result comes by itself; until then the call is open. */
  call(call: Call, signal: AbortSignal): Promise<ToolResult | "later">;
  /** The call is over, whatever it still waits for. */
  withdraw?(call: Call): Promise<void>;
  /** Keeps a text that is too long for a result, where there is a place for it. */
  keep?(text: string, filename: string): Promise<ResultFile | undefined>;
}

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9A-Z]{26}$`), `is no id ${prefix}_…`);
const words = (most: number) => z.string().trim().min(1).max(most);

/** What every agent of the team can do through its office: the same verbs and rules as anybody's (CTX-8). */
export const OFFICE_TOOLS = {
  post: {
    description:
      "Says something in a room, as you. Without space_id and reply_to it answers where the newest message that you were given came from. The end of a turn is told there by itself: use this for what is said before it, or elsewhere.",
    input: z.strictObject({
      text: words(50_000).describe("Markdown. @Name addresses somebody."),
      space_id: id("spc").optional().describe("The room, when it is another."),
      reply_to: id("msg").optional().describe("The message that is answered."),
      attach: z
        .array(z.strictObject({ filename: words(200), text: z.string().min(1).max(200_000) }))
        .max(5)
        .optional()
        .describe("Text files that are sent along."),
      attachments: z.array(id("att")).max(10).optional().describe("Files of rooms that are sent along."),
    }),
  },
  ask: {
    description:
      "Asks a teammate or a human a question. The answer comes later, as a message; do not wait for it in this turn.",
    input: z.strictObject({
      to: words(500).describe("A handle, a name or a role."),
      question: words(8000),
    }),
  },
  approve: {
    description:
      "Asks the people of the room for leave before you do something that matters: spend, publish, delete, send to outsiders. What they decide comes later, as a message, unless the rules decide at once.",
    input: z.strictObject({
      action: words(200).describe("What kind of act it is, as in email.send."),
      question: words(2000).describe("What the people are asked."),
      effect: words(2000).optional().describe("What happens when they allow it."),
      input: z.unknown().optional().describe("The particulars: amounts, addresses, texts."),
      risk: z
        .array(
          z.enum([
            "external",
            "external_communication",
            "irreversible",
            "destructive",
            "financial",
            "credential",
            "privacy",
            "legal",
          ]),
        )
        .max(8)
        .default([]),
      money_usd: z.number().nonnegative().optional(),
      expires_in_s: z.int().min(60).max(2_592_000).default(86_400),
    }),
  },
  search: {
    description:
      "Searches what was said in your rooms, or your own work: items, journals, outcomes. Newest first.",
    input: z.strictObject({
      query: words(1000),
      in: z.enum(["rooms", "work"]).default("rooms"),
      limit: z.int().min(1).max(50).default(10),
    }),
  },
  files: {
    description:
      "Lists the files of a room at their newest version, or reads one: text stands in the result, images and PDF documents are shown to you.",
    input: z.strictObject({
      space_id: id("spc")
        .optional()
        .describe("Lists this room's files; without it those of the room you were asked in."),
      attachment_id: id("att").optional().describe("Reads this file."),
    }),
  },
  work: {
    description: "Lists your work: what is open in the order it runs, then what finished last.",
    input: z.strictObject({}),
  },
  take_work: {
    description:
      "Takes on what was asked for in this conversation as work of its own, which runs after this turn: with a ticket when there is one.",
    input: z.strictObject({
      title: words(500).describe("What is to be done, in a line."),
      body: words(16_000).optional().describe("All that whoever does it must know."),
      ticket: words(200).optional().describe("The key of the ticket that it is."),
    }),
  },
  hand_back: {
    description:
      "Ends the work that you are on, with another status than done: waiting for somebody, blocked, or silent when nothing is to be said. Work that is done ends by itself with your answer.",
    input: z.strictObject({
      status: z.enum(["done", "waiting", "blocked", "silent"]),
      summary: words(20_000).describe("What came of it, or what it waits for."),
      to_review: z.array(words(500)).max(20).optional().describe("What somebody should look at."),
    }),
  },
} as const satisfies Record<string, Omit<ToolSpec, "name">>;

export type OfficeTool = keyof typeof OFFICE_TOOLS;
export type OfficeToolInput<T extends OfficeTool> = z.infer<(typeof OFFICE_TOOLS)[T]["input"]>;

/** The same as a list, in its order. */
export const officeTools: readonly ToolSpec[] = Object.entries(OFFICE_TOOLS).map(([name, of]) => ({
  name,
  ...of,
}));

/** The tools as a prompt tells the model of them. */
export function toolDefinitions(tools: readonly ToolSpec[]): ToolDefinition[] {
  return tools.map(({ name, description, input }) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
    return { name, description, parameters };
  });
}

/** The input as the tool takes it, or what is wrong with the call, for the model to read. */
export function checkedInput(
  tools: readonly ToolSpec[],
  { tool, input }: Pick<Call, "tool" | "input">,
): { ok: true; input: unknown } | { ok: false; output: string } {
  const spec = tools.find(({ name }) => name === tool);
  if (!spec)
    return {
      ok: false,
      output: `There is no tool ${JSON.stringify(tool.slice(0, 64))}. There are: ${tools.map(({ name }) => name).join(", ")}.`,
    };
  if (typeof input === "string")
    return { ok: false, output: "The input is not JSON. Call the tool again with one JSON object." };
  const read = spec.input.safeParse(input);
  if (read.success) return { ok: true, input: read.data };
  const faults: string[] = [];
  saidOfSchema(read.error, spec.input, input, (path, message) =>
    faults.push(`${path.length === 0 ? "the input" : path.join(".")} ${message}`),
  );
  return { ok: false, output: `The input does not fit: ${faults.slice(0, 10).join("; ")}.` };
}

/** Tools of one's own, before those of another host. */
export function withOwnTools(own: readonly OwnTool[], host: ToolHost | undefined): ToolHost {
  const names = new Set(own.map(({ name }) => name));
  const theirs = (host?.tools ?? []).filter(({ name }) => !names.has(name));
  return {
    tools: [...own, ...theirs],
    async call(call, signal) {
      const mine = own.find(({ name }) => name === call.tool);
      if (!mine && host) return host.call(call, signal);
      const checked = checkedInput(own, call);
      if (!checked.ok) return checked;
      try {
        return { ok: true, output: (await mine?.run(checked.input, call, signal)) ?? null };
      } catch (error) {
        if (signal.aborted) throw error;
        return { ok: false, output: error instanceof Error ? error.message : String(error) };
      }
    },
    withdraw: async (call) => (names.has(call.tool) ? undefined : host?.withdraw?.(call)),
    keep: async (text, filename) => host?.keep?.(text, filename),
  };
}
