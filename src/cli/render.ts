/** Events and lines of a room as lines of a terminal. What others wrote is made safe on the way. */
import type * as z from "zod";
import type { memberItem } from "../shared/wire/http.ts";
import type { Line, ServerFrame } from "../shared/wire/index.ts";
import { type Card, judgementText, type Reader, titleOf } from "./judgement.ts";
import { bold, dim, safeLine, safeText } from "./terminal.ts";
import { clockTime, day } from "./times.ts";

export { clockTime, day } from "./times.ts";

type Event = Extract<ServerFrame, { ts: string }>;
type MemberItem = z.infer<typeof memberItem>;

/** Who and what the ids stand for. It learns from what passes by. */
export class Directory {
  readonly #names = new Map<string, string>();
  readonly #handles = new Map<string, string>();
  readonly #titles = new Map<string, string>();
  readonly #asks = new Map<string, string>();

  addSpace(spaceId: string, title: string): void {
    this.#titles.set(spaceId, title);
  }

  addMembers(members: readonly Pick<MemberItem, "participant_id" | "name" | "handle">[]): void {
    for (const { participant_id, name, handle } of members) {
      this.#names.set(participant_id, name);
      if (handle !== undefined) this.#handles.set(participant_id, handle);
    }
  }

  learn(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        for (const { space_id, title } of frame.spaces) this.addSpace(space_id, title);
        break;
      case "message.posted":
      case "message.new":
      case "message.overheard":
        this.#names.set(frame.from.participant_id, frame.from.display_name);
        break;
      case "member.joined":
        this.addMembers([frame]);
        break;
      case "participant.renamed":
        this.#names.set(frame.participant_id, frame.name);
        // The new name has a handle of its own, which the fact does not tell.
        this.#handles.delete(frame.participant_id);
        break;
      case "agent.declared":
        this.#names.set(frame.agent_id, frame.name);
        break;
      case "space.created":
      case "space.renamed":
        this.addSpace(frame.space_id, frame.title);
        break;
      case "approval.requested":
        this.#asks.set(frame.approval_id, titleOf(frame));
        break;
      default:
    }
  }

  /** The name, with the handle where that is not the name itself. */
  who(id: string, fallback: string = id): string {
    if (id === "system") return "Bullpen";
    const name = safeLine(this.#names.get(id) ?? fallback);
    const handle = this.#handles.get(id);
    return handle === undefined || handle === name ? name : `${name} (@${safeLine(handle)})`;
  }

  /** What an ask was about. */
  ask(approvalId: string): string {
    return this.#asks.get(approvalId) ?? approvalId;
  }

  title(spaceId: string): string {
    return safeLine(this.#titles.get(spaceId) ?? spaceId);
  }
}

export function fileSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, "kB"] : [bytes / 1_000_000, "MB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** Where the words of a line begin, so that those of its next line stand under them and not under a time. */
const INDENT = " ".repeat(10);

function said(who: string, text: string, files: readonly string[], mark = ""): string {
  const lines = safeText(text).split("\n");
  // A name with a colon in it must not look like a speaker and the words.
  const head = `${bold(who)}${mark}: ${lines[0] ?? ""}`;
  return cardText({ head, lines: [...lines.slice(1), ...files.map((file) => `[file] ${file}`)] });
}

/** A card's lines under its head. */
export function cardText({ head, lines }: Card, indent = INDENT): string {
  return [head, ...lines.map((line) => `${indent}${dim("|")} ${line}`)].join("\n");
}

/** One event as text; undefined for what a reader has no use for. */
export function eventText(event: ServerFrame, names: Directory, reader: Reader): string | undefined {
  switch (event.type) {
    case "message.posted":
    case "message.new":
    case "message.overheard": {
      const files = (event.attachments ?? []).map(
        ({ filename, byte_size }) => `${safeLine(filename)}, ${fileSize(byte_size)}`,
      );
      const { participant_id, display_name } = event.from;
      const deleted = "deleted" in event && event.deleted;
      const text = deleted ? "(deleted)" : event.text;
      return said(
        names.who(participant_id, display_name),
        text,
        files,
        event.reply_to ? dim(" (reply)") : "",
      );
    }
    case "message.edited":
      return said(names.who(event.actor.id), event.text, [], dim(" (edited)"));
    case "message.deleted":
      return dim(`${names.who(event.actor.id)} deleted a message`);
    case "member.joined":
      return dim(`${names.who(event.participant_id, event.name)} joined`);
    case "member.left":
      return dim(`${names.who(event.participant_id)} left`);
    case "participant.renamed":
      return dim(`${safeLine(event.previous)} is now called ${safeLine(event.name)}`);
    case "space.created":
      return dim(`${names.who(event.actor.id)} made the space ${safeLine(event.title)}`);
    case "space.renamed":
      return dim(`${safeLine(event.previous)} is now called ${safeLine(event.title)}`);
    case "space.archived":
      return dim("the space was archived");
    case "space.unarchived":
      return dim("the space was brought back");
    case "run.started":
      return dim(`${names.who(event.agent_id)} starts`);
    case "run.stepped":
      return dim(`${names.who(event.actor.id)}: ${safeLine(event.text)} …`);
    case "run.ended":
      return event.outcome === "done" ? undefined : dim(`${names.who(event.agent_id)}: ${event.outcome}`);
    case "notice.posted":
      return dim(`Bullpen: ${safeLine(event.text)}`);
    default: {
      const text = judgementText(event, names, reader);
      return typeof text === "string" ? dim(text) : text && cardText(text);
    }
  }
}

/** Prints events with their times, a line for each new day, and the space where it is not known anyway. */
export class Printer {
  readonly #print: (text: string) => void;
  readonly #names: Directory;
  readonly #withSpace: boolean;
  readonly #command: Reader["command"];
  #day = "";

  constructor(
    names: Directory,
    options: { withSpace: boolean; print: (text: string) => void; command?: Reader["command"] },
  ) {
    this.#names = names;
    this.#command = options.command ?? ((rest) => `bullpen ${rest}`);
    this.#withSpace = options.withSpace;
    this.#print = options.print;
  }

  event(frame: ServerFrame): void {
    this.#names.learn(frame);
    const text = eventText(frame, this.#names, { now: Date.now(), command: this.#command });
    if (text === undefined || !isEvent(frame)) return;
    this.#line(frame.ts, frame.space_id, text);
  }

  line(line: Line): void {
    const who = this.#names.who(line.from.id, line.from.name);
    const files = (line.files ?? []).map(safeLine);
    const words = line.text ?? "";
    const text = line.kind === "said" ? said(who, words, files) : dim(happened(line, who));
    this.#line(line.at, undefined, text);
  }

  #line(at: string, spaceId: string | undefined, text: string): void {
    const today = day(at);
    if (today !== this.#day) this.#print(dim(`-- ${today} --`));
    this.#day = today;
    const space =
      this.#withSpace && spaceId !== undefined ? `${dim(`[${this.#names.title(spaceId)}]`)} ` : "";
    this.#print(`${dim(clockTime(at))}  ${space}${text}`);
  }
}

function isEvent(frame: ServerFrame): frame is Event {
  return "ts" in frame;
}

function happened(line: Line, who: string): string {
  switch (line.kind) {
    case "renamed":
      return line.title === undefined
        ? `${safeLine(line.previous ?? "")} is now called ${safeLine(line.name ?? who)}`
        : `the space is now called ${safeLine(line.title)}`;
    case "archived":
      return "the space was archived";
    case "unarchived":
      return "the space was brought back";
    default:
      return `${line.name === undefined ? who : safeLine(line.name)} ${line.kind}`;
  }
}
