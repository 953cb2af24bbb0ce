/** `people`, `subscription …`, `assign`: the team, and work for it (QUEUE-4, USE-3). */
import { type Command, InvalidArgumentError } from "commander";
import type { OfficeChanged } from "../../shared/wire/connection.ts";
import type { ItemAnswer, PersonItem, SubscriptionAnswer } from "../../shared/wire/office.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { peopleText, when } from "../office.ts";
import { globalsOf, make, sessionOf } from "../session.ts";
import { dim, note, print, printJson, safeJson, safeLine } from "../terminal.ts";
import { clockTime } from "../times.ts";
import { watchOffice } from "../watch.ts";
import { type PauseOptions, pauseBody, pauseOptions, textFrom } from "../words.ts";

export function addPeople(program: Command): void {
  const people = program
    .command("people")
    .description("list the team's agents: how each is, what they are on, how much waits")
    .option(
      "--watch",
      "list them again whenever something changes, until Ctrl-C; with --json one line each time",
    )
    .action(async (options: { watch?: true }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const read = async () => (await session.http.get<{ items: PersonItem[] }>("/v1/people")).items;
      const items = await read();
      if (options.watch) {
        const show = globals.json
          ? (now: PersonItem[]) => print(safeJson(now))
          : (now: PersonItem[]) => print(`${dim(clockTime(new Date().toISOString()))}\n${peopleText(now)}\n`);
        return watchOffice(session, { concerns, read, show });
      }
      if (globals.json) return printJson(items);
      if (items.length === 0) return note("Nobody is in the team yet: bullpen team apply FILE");
      print(peopleText(items));
    });
  examples(people, ["bullpen people", "bullpen people --watch", "bullpen people --json"]);
  addSubscription(program);
}

function concerns({ people, team }: OfficeChanged): boolean {
  return people !== undefined || team === true;
}

function addSubscription(program: Command): void {
  const subscription = program
    .command("subscription")
    .description("hold back work from everybody who shares a subscription, and let it go on");
  const pause = pauseOptions(
    subscription
      .command("pause")
      .argument("<name>", "as `subscription` of the team's config names it")
      .description("offer nothing new to who shares it; what runs goes on"),
  ).action(async (name: string, options: PauseOptions, command: Command) => {
    const globals = globalsOf(command);
    const path = `/v1/subscriptions/${encodeURIComponent(name)}/pause`;
    const body = pauseBody(options, Date.now());
    told(await sessionOf(globals).http.post<SubscriptionAnswer>(path, body), globals.json);
  });
  examples(pause, ["bullpen subscription pause max-1 --for 3h --reason 'the limit is near'"]);
  const resume = subscription
    .command("resume")
    .argument("<name>")
    .description("offer work again to who shares it")
    .action(async (name: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const path = `/v1/subscriptions/${encodeURIComponent(name)}/resume`;
      told(await sessionOf(globals).http.post<SubscriptionAnswer>(path), globals.json);
    });
  examples(resume, ["bullpen subscription resume max-1"]);
}

function told(answer: SubscriptionAnswer, json = false): void {
  if (json) return printJson(answer);
  const until = answer.until === undefined ? "" : ` until ${when(answer.until, Date.now())}`;
  const who = answer.people.map(safeLine).join(", ") || "nobody";
  print(
    `${safeLine(answer.subscription)} ${answer.paused ? `is paused${until}` : "goes on"}; shared by ${who}.`,
  );
}

interface AssignOptions {
  body?: string;
  ticket?: string;
  priority?: number;
  kind?: string;
}

export function addAssign(program: Command): void {
  const assign = program
    .command("assign")
    .argument("<handle>", "whose queue it goes into: bullpen people lists them")
    .argument("<title...>", "what is to be done, in a few words")
    .description("give one of the team work")
    .option("--body <text>", "the whole of what is to be done; - reads it from standard input")
    .option("--ticket <key>", "the ticket that it is about")
    .option("--priority <n>", "a smaller number runs first (default: its kind's own)", priority)
    .option("--kind <kind>", "what kind of work it is (default: assigned)")
    .action(async (handle: string, words: string[], options: AssignOptions, command: Command) => {
      const globals = globalsOf(command);
      const body = options.body === undefined ? undefined : await textFrom(options.body);
      const asked = { ...options, title: words.join(" "), body };
      const path = `/v1/people/${pathHandle(handle)}/items`;
      const { item } = await make<ItemAnswer>(sessionOf(globals), path, asked);
      if (globals.json) return printJson(item);
      print(item.id);
      const place = item.position === undefined ? "" : `, number ${item.position} in the queue`;
      note(`${safeLine(item.title)}: ${item.state}${place}.`);
    });
  examples(assign, [
    "bullpen assign scout Look why the build is slow",
    "bullpen assign scout 'Write the notes' --ticket BP-12 --priority 20",
    "bullpen assign mason 'Mend the door' --body - < door.md",
  ]);
}

function priority(text: string): number {
  if (!/^-?\d{1,4}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A handle as it is typed, `@` or not, as a part of a path. */
export function pathHandle(text: string): string {
  const handle = text.replace(/^@/, "");
  if (handle === "" || /[\s/]/.test(handle))
    throw usage(`${safeLine(text)} is no handle.`, "bullpen people lists them.");
  return encodeURIComponent(handle);
}
