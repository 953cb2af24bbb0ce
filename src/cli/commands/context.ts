/** `context …`: what a model sees (STREAM-1, STREAM-2), and what a room's lines are. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import type * as z from "zod";
import { newId } from "../../sdk/ids.ts";
import type {
  AppendEvent,
  appendAnswer,
  HistoryAnswer,
  promptAnswer,
  promptFormat,
  streamRead,
} from "../../shared/wire/context/http.ts";
import type { ContextItem, ItemRole } from "../../shared/wire/context/item.ts";
import type { Context } from "../../shared/wire/index.ts";
import type { PersonAnswer } from "../../shared/wire/office.ts";
import { batchOf, eventsText, historyText, promptText } from "../context.ts";
import { usage } from "../failures.ts";
import { examples, wholeNumber } from "../help.ts";
import { Directory, Printer } from "../render.ts";
import { findSpace } from "../resolve.ts";
import { type Globals, globalsOf, persist, type Session, sessionOf } from "../session.ts";
import { note, print, printJson, safeLine } from "../terminal.ts";
import { textFrom } from "../words.ts";
import { pathHandle } from "./people.ts";
import { pickItem } from "./queue.ts";

const HANDLE = "whose: bullpen people lists them";

export function addContext(program: Command): void {
  const context = program
    .command("context")
    .description("what models see: a teammate's stream, its history and its prompt; a room's lines");
  examples(context, [
    "bullpen context show ada",
    "bullpen context append ada 'The shop is closed on Monday.'",
    "bullpen context Lobby",
  ]);
  addRoom(context);
  addShow(context);
  addAppend(context);
  addPrompt(context);
  addPause(context);
}

/** A command about one stream. */
function ofStream(context: Command, name: string): Command {
  return context
    .command(name)
    .argument("<handle>", HANDLE)
    .option(
      "--item <item>",
      "the stream of this item of the queue (its id, #number or title), not the person's own",
    );
}

/** The handle as the server spells it. */
const nameOf = (handle: string) => safeLine(handle.replace(/^@/, ""));

interface StreamOptions {
  item?: string;
}

async function streamOf({ http }: Session, handle: string, { item }: StreamOptions): Promise<string> {
  const own = `/v1/streams/people/${pathHandle(handle)}`;
  if (item === undefined) return own;
  // An item that ended long ago is in no list any more; its stream is.
  if (/^itm_[0-9A-Z]{26}$/.test(item)) return `${own}/items/${item}`;
  const { items } = await http.get<PersonAnswer>(`/v1/people/${pathHandle(handle)}`);
  return `${own}/items/${pickItem(items, item).id}`;
}

function addRoom(context: Command): void {
  const room = context
    .command("room", { isDefault: true })
    .argument("<space>", "its title or id")
    .description("show a space's latest lines, or those before a seq; the word room may be left out")
    .option("--lines <n>", "how many", wholeNumber, 40)
    .option("--before <seq>", "page back: the lines before this seq", wholeNumber)
    .action(async (text: string, options: { lines: number; before?: number }, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { space_id } = await findSpace(http, text);
      const answer = await http.get<{ context: Context }>(`/v1/spaces/${space_id}/context`, { ...options });
      if (globals.json) return printJson(answer.context);
      const printer = new Printer(new Directory(), { withSpace: false, print });
      for (const line of answer.context.lines) printer.line(line);
      if (answer.context.truncated) note(`There is more: --before ${answer.context.before}`);
    });
  examples(room, ["bullpen context Lobby", "bullpen context room Lobby --lines 100 --before 812"]);
}

interface ShowOptions extends StreamOptions {
  at?: number;
  last: number;
  events?: true;
  after?: number;
}

function addShow(context: Command): void {
  const show = ofStream(context, "show")
    .description("show the items that the model sees, and how it stands with its requests")
    .option("--at <offset>", "as it was at this offset", wholeNumber)
    .option("--last <n>", "how many of the newest items or events", wholeNumber, 20)
    .option("--events", "the stream itself, event by event, in the place of what it comes to")
    .option("--after <offset>", "with --events: those after this offset, oldest first", wholeNumber)
    .action(async (handle: string, options: ShowOptions, command: Command) => {
      const { at, last, after } = options;
      if (after !== undefined && !options.events) throw usage("--after goes with --events.");
      if (at !== undefined && options.events) throw usage("--at is for the history: leave out --events.");
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const path = await streamOf(session, handle, options);
      if (options.events) {
        const events = await eventsOf(session, path, last, after);
        if (globals.json) return printJson(events);
        if (events.length === 0) return note("The stream has no events there.");
        return print(eventsText(events, Date.now()));
      }
      const history = await session.http.get<HistoryAnswer>(`${path}/history`, { at });
      if (globals.json) return printJson(history);
      print(historyText(nameOf(handle), history, Date.now(), last));
    });
  examples(show, [
    "bullpen context show ada",
    "bullpen context show ada --item '#1' --last 100",
    "bullpen context show ada --at 57 --json",
    "bullpen context show ada --events --after 0",
  ]);
}

type StreamRead = z.infer<typeof streamRead>;

/** A page after an offset, or the newest events: those stand at the end of the last page. */
async function eventsOf(
  { http }: Session,
  path: string,
  last: number,
  after: number | undefined,
): Promise<StreamRead["events"]> {
  if (after !== undefined)
    return (await http.get<StreamRead>(path, { after, limit: Math.max(1, last) })).events;
  let kept: StreamRead["events"] = [];
  for (let from = 0; ; ) {
    const { events, head } = await http.get<StreamRead>(path, { after: from, limit: 1000 });
    kept = [...kept, ...events].slice(-Math.max(1, last));
    from = events.at(-1)?.offset ?? head;
    if (events.length === 0 || from >= head) return kept;
  }
}

interface AppendOptions extends StreamOptions {
  role: ItemRole;
  key?: string;
  quiet?: true;
  interrupt?: true;
  events?: string;
}

function addAppend(context: Command): void {
  const append = ofStream(context, "append")
    .argument("[text...]", "what the model is to read; - reads standard input")
    .description("add an item to what the model sees; an answer follows unless --quiet")
    .addOption(
      new Option("--role <role>", "in which role it is told")
        .choices(["user", "developer", "system", "assistant"])
        .default("user"),
    )
    .option("--key <key>", "its name: until a request has seen it, another with this key takes its place")
    .option("--quiet", "ask for no answer; the next request sees it")
    .option("--interrupt", "end the request that is open, and answer this")
    .option("--events <file>", "append these events, a JSON list or one JSON a line; - reads standard input")
    .action(async (handle: string, words: string[], options: AppendOptions, command: Command) => {
      const globals = globalsOf(command);
      if (options.quiet && options.interrupt) throw usage("--quiet and --interrupt: give one of them.");
      const events =
        options.events === undefined
          ? [itemOf(await textFrom(words.join(" ")), options)]
          : batchOf(await fileText(options.events, words));
      const session = sessionOf(globals);
      const offsets = await appendTo(session, await streamOf(session, handle, options), events);
      if (globals.json) return printJson(offsets);
      for (const offset of offsets) print(String(offset));
    });
  examples(append, [
    "bullpen context append ada 'What is left to do?'",
    "bullpen context append ada --quiet --key opening-hours 'The shop opens at 9.'",
    "bullpen context append ada --role system - < instructions.md",
    "bullpen context append ada --events events.json",
  ]);
}

function itemOf(content: string, { role, key, quiet, interrupt }: AppendOptions): AppendEvent {
  if (content === "")
    throw usage("Say what is appended.", "Words, or - for standard input, or --events FILE.");
  const behaviour = quiet ? "dont-trigger-request" : interrupt ? "interrupt-current-request" : undefined;
  const payload: ContextItem = {
    role,
    content,
    ...(key !== undefined && { key }),
    ...(behaviour && { llmRequestPolicy: { behaviour } }),
  };
  return { type: "context-item", payload };
}

async function fileText(path: string, words: string[]): Promise<string> {
  if (words.length > 0) throw usage("--events is the whole of what is appended: leave out the words.");
  return path === "-" ? await textFrom("-") : readText(path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw usage(`${path} cannot be read.`);
  }
}

/** Appends one batch. Its keys are made once, so that sending it again cannot append it twice (STREAM-1). */
async function appendTo({ http }: Session, path: string, events: readonly object[]): Promise<number[]> {
  const id = newId("evt");
  const keyed = events.map((event, i) => ({ idempotencyKey: `cli:${id}:${i}`, ...event }));
  const answer = await persist(() => http.post<z.infer<typeof appendAnswer>>(path, { events: keyed }));
  return answer.offsets;
}

interface PromptOptions extends StreamOptions {
  at?: number;
  format: z.infer<typeof promptFormat>;
}

function addPrompt(context: Command): void {
  const prompt = ofStream(context, "prompt")
    .description("show what the model is sent, as its provider takes it")
    .option("--at <offset>", "as of this offset; that of a request shows what it sent", wholeNumber)
    .addOption(
      new Option("--format <format>", "the provider's form; openai is its Responses")
        .choices(["openai", "openai-chat", "anthropic", "items"])
        .default("openai"),
    )
    .addHelpText("after", "\nWith --json it is the body alone: add a model and send it.")
    .action(async (handle: string, options: PromptOptions, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const path = await streamOf(session, handle, options);
      const { at, format } = options;
      const { request } = await session.http.get<z.infer<typeof promptAnswer>>(`${path}/prompt`, {
        at,
        format,
      });
      if (globals.json) return printJson(request);
      print(promptText(request));
    });
  examples(prompt, [
    "bullpen context prompt ada",
    "bullpen context prompt ada --at 57 --format anthropic",
    "bullpen context prompt ada --format openai-chat --json | jq '.model = \"gpt-5\"' > request.json",
  ]);
}

function addPause(context: Command): void {
  const pause = ofStream(context, "pause")
    .description("ask the model nothing more until it is resumed; an open request ends, and nothing is lost")
    .option("--reason <text>", "why; it stands in the stream", "by hand")
    .action(async (handle: string, options: StreamOptions & { reason: string }, command: Command) => {
      const event: AppendEvent = { type: "stream-paused", payload: { reason: options.reason } };
      await turn(globalsOf(command), handle, options, event, "is paused.");
    });
  examples(pause, ["bullpen context pause ada --reason 'the model is being changed'"]);

  const resume = ofStream(context, "resume")
    .description("let the model be asked again; what came meanwhile is answered")
    .action(async (handle: string, options: StreamOptions, command: Command) => {
      const event: AppendEvent = { type: "stream-resumed", payload: {} };
      await turn(globalsOf(command), handle, options, event, "goes on.");
    });
  examples(resume, ["bullpen context resume ada", "bullpen context resume ada --item '#1'"]);
}

async function turn(
  globals: Globals,
  handle: string,
  options: StreamOptions,
  event: AppendEvent,
  done: string,
): Promise<void> {
  const session = sessionOf(globals);
  const offsets = await appendTo(session, await streamOf(session, handle, options), [event]);
  if (globals.json) return printJson(offsets);
  print(`${nameOf(handle)}'s stream ${done}`);
}
