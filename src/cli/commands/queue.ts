/** `queue …`: one person's queue, and what people may do in it (QUEUE-4, OFFER-7). */
import type { Command } from "commander";
import type { BullpenHttp } from "../../sdk/http.ts";
import type {
  ItemAnswer,
  OfficeItem,
  PatchItem,
  PersonAnswer,
  StatusAnswer,
} from "../../shared/wire/office.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { itemText, queueText } from "../office.ts";
import { pick } from "../resolve.ts";
import { type Globals, globalsOf, type Session, sessionOf } from "../session.ts";
import { dim, print, printJson, safeJson, safeLine } from "../terminal.ts";
import { clockTime } from "../times.ts";
import { watchOffice } from "../watch.ts";
import { type PauseOptions, pauseBody, pauseOptions } from "../words.ts";
import { pathHandle } from "./people.ts";

const HANDLE = "whose queue: bullpen people lists them";
const ITEM = "the item: its id, its #number in the queue, or its title";
const ULID = "itm_01K4ZQPX000000000000000001";

export function addQueue(program: Command): void {
  const queue = program
    .command("queue")
    .description("a person's queue: see it, stop, move and re-queue work");
  examples(queue, [
    "bullpen queue scout",
    "bullpen queue stop scout '#1'",
    "bullpen queue pause scout --for 2h",
  ]);
  addShow(queue);
  addMoves(queue);
  addPlace(queue);
  addPause(queue);
}

const personPath = (handle: string) => `/v1/people/${pathHandle(handle)}`;

function addShow(queue: Command): void {
  const show = queue
    .command("show", { isDefault: true })
    .argument("<handle>", HANDLE)
    .description("show the items in the order they run, and why each waits")
    .option("--all", "those that ended lately too")
    .option("--watch", "show it again whenever it changes, until Ctrl-C; with --json one line each time")
    .action(async (handle: string, options: { all?: true; watch?: true }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const read = () => session.http.get<PersonAnswer>(personPath(handle));
      const text = (person: PersonAnswer) => queueText(person, Date.now(), options.all);
      if (options.watch) {
        const show = globals.json
          ? (person: PersonAnswer) => print(safeJson(person))
          : (person: PersonAnswer) => print(`${dim(clockTime(new Date().toISOString()))} ${text(person)}\n`);
        return watch(session, await read(), read, show);
      }
      const person = await read();
      if (globals.json) return printJson(person);
      print(text(person));
    });
  examples(show, ["bullpen queue scout", "bullpen queue scout --watch", "bullpen queue scout --all --json"]);

  const item = queue
    .command("item")
    .argument("<handle>", HANDLE)
    .argument("<item>", ITEM)
    .description("show one item with its history")
    .action(async (handle: string, text: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const found = await findItem(sessionOf(globals).http, handle, text);
      if (globals.json) return printJson(found);
      print(itemText(found, Date.now()));
    });
  examples(item, ["bullpen queue item scout '#1'", `bullpen queue item scout ${ULID}`]);
}

/** Shows a queue again and again. It was read once before: who may not see it is told at once. */
async function watch(
  session: Session,
  { handle }: PersonAnswer,
  read: () => Promise<PersonAnswer>,
  show: (person: PersonAnswer) => void,
): Promise<void> {
  await watchOffice(session, {
    concerns: ({ people = [], team }) => team === true || people.includes(handle),
    read,
    show,
  });
}

/** The moves that are a state: what the command is called, what it asks for, and what it says. */
const MOVES = [
  ["stop", "canceled", "stop an item for good; an agent that is on it is told so", "is canceled"],
  ["requeue", "queued", "put an item back into the queue: stopped, blocked, waiting or running", "is queued"],
  ["block", "blocked", "take an item out until somebody re-queues it", "is blocked"],
  ["finish", "done", "say that a waiting or blocked item is done", "is done"],
] as const;

function addMoves(queue: Command): void {
  for (const [name, status, does, done] of MOVES) {
    const command = queue
      .command(name)
      .argument("<handle>", HANDLE)
      .argument("<item>", ITEM)
      .description(does)
      .option("--reason <text>", "why; it stands in the item's history")
      .action(async (handle: string, text: string, options: { reason?: string }, self: Command) => {
        const item = await change(globalsOf(self), handle, text, { status, ...options });
        if (item) print(`${safeLine(item.title)} ${done}.`);
      });
    examples(command, [`bullpen queue ${name} scout '#1'`, `bullpen queue ${name} scout ${ULID} --reason …`]);
  }

  const move = queue
    .command("move")
    .argument("<handle>", HANDLE)
    .argument("<item>", ITEM)
    .argument("<to>", "the handle of whose it will be")
    .description("hand an item to somebody else of the team, with all that belongs to it")
    .option("--reason <text>", "why; it stands in the item's history")
    .action(
      async (handle: string, text: string, to: string, options: { reason?: string }, command: Command) => {
        const person = decodeURIComponent(pathHandle(to));
        const item = await change(globalsOf(command), handle, text, { person, ...options });
        if (item) print(`${safeLine(item.title)} is ${person}'s now.`);
      },
    );
  examples(move, ["bullpen queue move scout '#2' mason --reason 'Mason knows the shop'"]);
}

interface PlaceOptions {
  next?: true;
  last?: true;
  before?: string;
  after?: string;
}

function addPlace(queue: Command): void {
  const place = queue
    .command("place")
    .argument("<handle>", HANDLE)
    .argument("<item>", ITEM)
    .description("put a queued item at another place of the queue")
    .option("--next", "before all others")
    .option("--last", "behind all others")
    .option("--before <item>", "before this one")
    .option("--after <item>", "behind this one")
    .action(async (handle: string, text: string, options: PlaceOptions, command: Command) => {
      const given = Object.keys(options) as (keyof PlaceOptions)[];
      const [position] = given;
      if (position === undefined || given.length > 1)
        throw usage("Say where: one of --next, --last, --before ITEM or --after ITEM.");
      const globals = globalsOf(command);
      const other = options.before ?? options.after;
      const { items } = await sessionOf(globals).http.get<PersonAnswer>(personPath(handle));
      const relativeTo = other === undefined ? {} : { relativeTo: pickItem(items, other).id };
      const item = await change(globals, handle, pickItem(items, text).id, { position, ...relativeTo });
      if (item) print(`${safeLine(item.title)} is number ${item.position ?? "?"} in the queue.`);
    });
  examples(place, ["bullpen queue place scout '#3' --next", "bullpen queue place scout '#3' --after '#1'"]);
}

function addPause(queue: Command): void {
  const pause = pauseOptions(
    queue
      .command("pause")
      .argument("<handle>", HANDLE)
      .description("offer somebody nothing new; what runs goes on"),
  ).action(async (handle: string, options: PauseOptions, command: Command) => {
    const globals = globalsOf(command);
    const body = pauseBody(options, Date.now());
    const answer = await sessionOf(globals).http.post<StatusAnswer>(`${personPath(handle)}/pause`, body);
    if (globals.json) return printJson(answer);
    const still = answer.status === "working" ? " What they are on goes on." : "";
    print(`${safeLine(handle)} is offered nothing new.${still}`);
  });
  examples(pause, ["bullpen queue pause scout --for 2h --reason lunch", "bullpen queue pause scout"]);

  const resume = queue
    .command("resume")
    .argument("<handle>", HANDLE)
    .description("offer somebody work again")
    .action(async (handle: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const answer = await sessionOf(globals).http.post<StatusAnswer>(`${personPath(handle)}/resume`);
      if (globals.json) return printJson(answer);
      print(`${safeLine(handle)} is offered work again (${answer.status}).`);
    });
  examples(resume, ["bullpen queue resume scout"]);
}

/** Changes an item; undefined when the answer was printed as JSON already. */
async function change(
  globals: Globals,
  handle: string,
  text: string,
  asked: PatchItem,
): Promise<OfficeItem | undefined> {
  const { http } = sessionOf(globals);
  const { id } = await findItem(http, handle, text);
  const answer = await http.patch<ItemAnswer>(`${personPath(handle)}/items/${id}`, asked);
  if (!globals.json) return answer.item;
  printJson(answer.item);
  return undefined;
}

async function findItem(http: BullpenHttp, handle: string, text: string): Promise<OfficeItem> {
  const { items } = await http.get<PersonAnswer>(personPath(handle));
  return pickItem(items, text);
}

/** By `#number` among the queued, by id, or by title. */
export function pickItem(items: readonly OfficeItem[], text: string): OfficeItem {
  const number = /^#(\d{1,6})$/.exec(text)?.[1];
  const placed = number === undefined ? undefined : items.find((i) => i.position === Number(number));
  return (
    placed ??
    pick("item", text, items, ({ id, title, state, position }) => ({
      id,
      name: title,
      more: position === undefined ? state : `${state}, #${position}`,
    }))
  );
}
