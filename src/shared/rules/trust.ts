/** Who did something, and whether the team trusts them (PIPE-5). Names prove nothing: only a source's own id does. */
import type { Team } from "../wire/team.ts";

/** Who does what the board itself does; no handle can read so. */
export const OFFICE_ACTOR = { id: "@office", name: "office" } as const;
/** Sources that are ourselves: no token from outside speaks for them (WORK-4). */
export const OWN_SOURCES: readonly string[] = ["board", "room", "office", "schedule"];
/** Whether it was we ourselves, who act on the board and by the clock: any other source may call anybody so. */
export function isOffice({ source, id }: { source: string; id: string }): boolean {
  return id === OFFICE_ACTOR.id && (source === "board" || source === "schedule");
}
/** GitHub's words for who may write to a repository. */
const INSIDERS = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** An actor as the source of an event named them. */
export interface Named {
  source: string;
  id: string;
  name?: string | undefined;
  kind?: "human" | "agent" | "bot" | undefined;
  association?: string | undefined;
}

export interface Who {
  /** `person`: an agent teammate; `office`: we ourselves. */
  kind: "human" | "person" | "bot" | "stranger" | "office";
  trusted: boolean;
  /** How the trace says it. */
  why: string;
  /** A person's handle. */
  handle?: string;
  /** What people read. */
  name: string;
  /** One spelling for the same somebody, whatever the source: whose latest verdict counts. */
  key: string;
  /** A human's id in rooms. */
  user?: string;
}

/** GitHub takes logins in any case, so the same login is the same somebody; elsewhere an id is what it is. */
const same = (source: string, a: string, b: string): boolean =>
  source === "github" ? a.toLowerCase() === b.toLowerCase() : a === b;

/** The handle of the person that a source calls so. */
export function personOf(team: Team, source: string, id: string | null | undefined): string | undefined {
  if (!id) return undefined;
  return team.people.find((p) => {
    if (OWN_SOURCES.includes(source) && p.handle === id) return true;
    const known = p.identities[source];
    return known !== undefined && same(source, known, id);
  })?.handle;
}

/** The trusted human that a source calls so. In rooms and on the board they are who they are in the workspace. */
export function humanOf(team: Team, source: string, id: string): Team["humans"][number] | undefined {
  return team.humans.find((h) => {
    if (OWN_SOURCES.includes(source) && h.user === id) return true;
    const known = h.identities[source];
    return known !== undefined && same(source, known, id);
  });
}

/** Chat ids are any identity but the code host's: a login there proves nothing here. */
const chatIds = (identities: Record<string, string>): string[] =>
  Object.entries(identities).flatMap(([source, id]) => (source === "github" ? [] : [id]));

/** Who an author is whom an agent reports from its chat: known by their id there, never by a handle (CHAT-1). */
function chatAuthor(team: Team, id: string): { handle?: string; human?: Team["humans"][number] } {
  const human = team.humans.find((h) => h.user === id || chatIds(h.identities).includes(id));
  if (human) return { human };
  const handle = team.people.find((p) => chatIds(p.identities).includes(id))?.handle;
  return handle ? { handle } : {};
}

/**
 * @param repo where it happened: its configured bots are trusted there, and nowhere else
 * @param chat an author whom an agent reports
 */
export function whoIs(team: Team, actor: Named, place: { repo?: string; chat?: boolean } = {}): Who {
  const { source, id } = actor;
  if (isOffice(actor))
    return { kind: "office", trusted: true, why: "the office itself", name: "office", key: "office" };
  const shown = actor.name ?? id;
  const { handle, human } =
    place.chat && source === "office"
      ? chatAuthor(team, id)
      : { handle: personOf(team, source, id), human: humanOf(team, source, id) };
  if (handle) {
    const name = team.people.find((p) => p.handle === handle)?.name ?? handle;
    return {
      kind: "person",
      trusted: true,
      why: "a person of the team",
      handle,
      name,
      key: `person:${handle}`,
    };
  }
  if (human) {
    const user = human.user === undefined ? {} : { user: human.user };
    const key = `human:${human.user ?? human.name}`;
    return {
      kind: "human",
      trusted: true,
      why: "a human whom the team trusts",
      name: human.name,
      key,
      ...user,
    };
  }
  const key = `${source}:${source === "github" ? id.toLowerCase() : id}`;
  if (actor.kind === "bot" || /\[bot\]$/i.test(id)) {
    const bots =
      team.repositories.find((r) => r.repo.toLowerCase() === place.repo?.toLowerCase())?.bots ?? [];
    // GitHub writes an app `renovate[bot]`, and people say `renovate`: no user who has that login is a bot.
    const names = (bot: string) =>
      same(source, bot, id) || (source === "github" && same(source, `${bot}[bot]`, id));
    const trusted = bots.some(names);
    const why = trusted
      ? "a bot that the team lets wake people here"
      : "a bot that the team has not named for this repository";
    return { kind: "bot", trusted, why, name: shown, key };
  }
  // Only GitHub's own signed deliveries say this; what others claim of it is taken out before (WORK-4).
  if (source === "github" && INSIDERS.has((actor.association ?? "").toUpperCase())) {
    const why = `GitHub calls them ${actor.association?.toUpperCase()} of the repository`;
    return { kind: "human", trusted: true, why, name: shown, key };
  }
  return { kind: "stranger", trusted: false, why: "nobody whom the team trusts", name: shown, key };
}
