/** One thing that a model sees (CTX-1). The contract's `context-item.schema.json` has the same fields. */
import * as z from "zod";

/** An offset of a stream's event (STREAM-1). */
export const offset = z.int().positive();
const count = z.int().nonnegative();

export const itemRole = z.enum(["system", "developer", "user", "assistant"]);
export type ItemRole = z.infer<typeof itemRole>;

export const itemFile = z.object({
  contentType: z.string().describe("Its MIME type."),
  filename: z.string().describe("The name that it came with."),
  path: z.string().describe("Where it is stored. The runner reads it there (RENDER-3)."),
  size: count.describe("In bytes."),
  url: z
    .string()
    .describe("The URL that was signed when it was attached. It is stored, not renewed, not sent on."),
});
export type ItemFile = z.infer<typeof itemFile>;

export const itemRef = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("event"),
    streamPath: z.string().describe("The stream that holds the event."),
    offset: offset.describe("The event's offset in that stream."),
    eventType: z.string().optional().describe("The event's type, where it is known."),
  }),
  z.object({ type: z.literal("user"), userId: z.string().describe("A participant of the workspace.") }),
  z.object({ type: z.literal("file"), path: z.string().describe("Where the file is stored.") }),
  z.object({
    type: z.literal("git-commit"),
    repoPath: z.string().describe("Where the repository is found."),
    commitOid: z.string().describe("The commit's id."),
  }),
]);
export type ItemRef = z.infer<typeof itemRef>;

/** Who an item is from. Without one it is from the office itself (STREAM-4). */
export const itemActor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("user"),
    origin: z.enum(["web", "mcp"]).describe("Where the person wrote it."),
  }),
  z.object({ type: z.literal("agent"), path: z.string().describe("The stream of the agent that wrote it.") }),
  z.object({
    type: z.literal("script"),
    executionId: z.string().describe("The id of the call whose result it is (CTX-9)."),
  }),
  z.object({ type: z.literal("integration"), name: z.string().describe("Which one brought it.") }),
  z.object({
    type: z.literal("slack"),
    userId: z.string().optional().describe("Whoever wrote it, by their Slack id."),
    botName: z.string().optional().describe("The Slack bot that wrote it."),
  }),
  z.object({
    type: z.literal("telegram"),
    userId: z.string().optional().describe("Whoever wrote it, by their Telegram id."),
    username: z.string().optional().describe("Their Telegram name, where it is known."),
  }),
  z.object({
    type: z.literal("email"),
    address: z.string().optional().describe("The sender's address."),
    name: z.string().optional().describe("The sender's name, as the e-mail shows it."),
  }),
  z.object({
    type: z.literal("github"),
    login: z.string().optional().describe("The sender's GitHub login."),
    senderType: z.string().optional().describe("What GitHub calls the sender: User, Bot and so on."),
  }),
]);
export type ItemActor = z.infer<typeof itemActor>;

const behaves = <const T extends string>(behaviour: T) => z.object({ behaviour: z.literal(behaviour) });
export const requestPolicy = z.discriminatedUnion("behaviour", [
  behaves("dont-trigger-request"),
  behaves("interrupt-current-request"),
  behaves("after-current-request"),
]);
export type RequestPolicy = z.infer<typeof requestPolicy>;

/** What a model's provider counted (REQ-8). */
export const modelUsage = z.object({
  inputTokens: count.describe("All tokens that went in, cached ones included."),
  outputTokens: count.describe("All tokens that came out, thinking included."),
  cachedInputTokens: count.optional().describe("Those that came from the provider's cache, if it says so."),
  reasoningOutputTokens: count.optional().describe("Those that went into thinking, if it says so."),
});
export type ModelUsage = z.infer<typeof modelUsage>;

export const compaction = z.object({
  replacesHistoryThrough: offset.describe(
    "The barrier: every item that is not system, at or below this offset, gives way to this one.",
  ),
  usage: modelUsage.optional().describe("What the request for the summary used."),
});

/** What JSON Schema can say of CTX-3, CTX-4 and CTX-5: where a field is inert. It refuses nothing (CTX-4). */
const INERT = {
  if: { required: ["compaction"], properties: { role: { const: "developer" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: {
    properties: {
      key: { description: "Inert on a compaction item: it is never replaced." },
      llmRequestPolicy: { description: "Inert on a compaction item: it triggers nothing." },
    },
  },
  else: { properties: { compaction: { description: "Inert on an item that is not a developer's." } } },
};

/** One item of a context: unknown keys at the root are refused, those below it are dropped (CTX-1, STREAM-4). */
export const contextItem = z
  .strictObject({
    role: itemRole.describe("The role in which the model is told it."),
    content: z.string().describe("What the model reads."),
    key: z
      .string()
      .min(1)
      .optional()
      .describe(
        "One name for the same thing: an update that no request has covered yet replaces the item in place, a later one is a new item (CTX-2).",
      ),
    files: z.array(itemFile).optional().describe("Files that came with it."),
    refs: z.array(itemRef).optional().describe("Where more can be found."),
    actor: itemActor
      .optional()
      .describe("Who it is from. Stamped from the token; the office itself has none (STREAM-4)."),
    llmRequestPolicy: requestPolicy
      .optional()
      .meta({ default: { behaviour: "after-current-request" } })
      .describe(
        "What it does to the model's turn. Inert on system and assistant items. An interruption by new input is the only way to cancel a request (CTX-5, REQ-3).",
      ),
    llmRequestOffset: offset
      .optional()
      .describe(
        "Of an assistant item: the request that it answers. It counts only if that request was open when it was appended (CTX-3).",
      ),
    compaction: compaction
      .optional()
      .describe(
        "Makes a developer item the summary of what stood at or below its barrier; inert on other roles (CTX-4). A barrier at or past the item's own offset, or at or below one in force, does nothing.",
      ),
  })
  .meta({ description: "One item of a context: what a model is shown, and where (CTX-1).", ...INERT });
export type ContextItem = z.infer<typeof contextItem>;
