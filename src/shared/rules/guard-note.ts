import type { Repeat, Reset, Verdict } from "./guard.ts";
import { counted, lasting, quoted } from "./note-words.ts";

/** The facts of `exchange` that its note is made of; `names` are of all whose ids stand in it. */
export interface ExchangeFacts {
  count: number;
  since: { [K in "kind" | "by" | "made" | "file"]?: Reset[K] | undefined } & Pick<Reset, "kind">;
  minutes: number;
  person_looking: boolean | null;
  person?: string | undefined;
  repeats: readonly (Pick<Repeat, "by" | "kind"> & { file?: string | undefined })[];
  circling: boolean;
  also_for: readonly string[];
  stage: Verdict["stage"];
  allowance?: number | undefined;
  paused: boolean;
  names: ReadonlyMap<string, string>;
}

const MOST_IN_NAME = 80;
const MOST_NAMED = 10;

/** `exchange.note`: the facts in plain words. Nothing that people or agents wrote can begin a line of it. */
export function exchangeNote(facts: ExchangeFacts): string {
  const called = (id: string | undefined, unknown: string): string => {
    const name = id === undefined ? undefined : facts.names.get(id);
    return name === undefined ? unknown : quoted(name, MOST_IN_NAME);
  };
  const { count, since, repeats, also_for: others } = facts;
  const ago = since.kind === "start" ? "" : `, ${lasting(facts.minutes)} ago`;
  const lines = [`${counted(count, "message")} between agents since ${resetWords(since, called)}${ago}.`];

  const last = repeats.at(-1);
  if (last) {
    const what =
      last.kind === "words"
        ? "says much the same as before"
        : `brings ${fileWords(last.file)}, which was here already`;
    lines.push(
      `Repeats among them: ${repeats.length}; the newest, by ${called(last.by, "an agent")}, ${what}.`,
    );
  }
  if (facts.circling) lines.push("The same agents are taking turns with nothing new.");
  if (others.length > 0) {
    const named = others.slice(0, MOST_NAMED).map((id) => called(id, "an agent"));
    const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : "";
    lines.push(`This message is also for ${named.join(", ")}${more}.`);
  }
  if (facts.person_looking !== null)
    lines.push(facts.person_looking ? "Somebody has the room open." : "Nobody is looking at the room.");
  if (facts.stage === "held") {
    const why = facts.paused ? "while the agents were paused" : "because there were too many";
    lines.push(`The room held this message ${why}, and hands it over now that a person has acted.`);
    return lines.join("\n");
  }
  if (facts.stage === "warning")
    lines.push(
      "Stop here unless there is new work: say what is done and what is blocked to " +
        `${called(facts.person, "the people of the room")}, and mention no agent.`,
    );
  if (facts.stage === "nudge")
    lines.push(
      "Write to another agent only if it moves the work on; with nothing to add, answer NO_REPLY alone.",
    );
  if (facts.allowance !== undefined)
    lines.push(`From message number ${facts.allowance} on the room holds them until a person acts.`);
  return lines.join("\n");
}

function resetWords(
  since: ExchangeFacts["since"],
  called: (id: string | undefined, unknown: string) => string,
): string {
  if (since.kind === "start") return "the room began";
  if (since.kind === "person") return `${called(since.by, "a person")} last acted`;
  const by = called(since.by, "an agent");
  if (since.made === "question") return `${by} asked a person a question`;
  if (since.made === "approval") return `${by} asked for an approval`;
  return `${by} made ${fileWords(since.file)}`;
}

function fileWords(name: string | undefined): string {
  return name === undefined ? "a file" : `the file ${quoted(name, MOST_IN_NAME)}`;
}
