/** A furnished workspace, what it reads as, and a runner for tables of hostile input. */
import { expect } from "vitest";
import {
  type Agents,
  type Any,
  call,
  get,
  newAgents,
  newFastWorkspace,
  newHarness,
  newPerson,
  newSpace,
  type Party,
  post,
  say,
  send,
  startRun,
} from "./kit.ts";

export interface House {
  workspace: string;
  owner: Party;
  bob: Party;
  gil: Party;
  team: Agents;
  plain: Party;
  space: string;
  /** A private space where only Bob is. */
  hidden: string;
  /** The owner's message in `space`, and Bob's in `hidden`. */
  message: string;
  hiddenMessage: string;
  run: string;
  file: string;
  tokenId: string;
}

/** A workspace with something of each kind in it. */
export async function newHouse(): Promise<House> {
  const { id: workspace, owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  const bob = await newPerson(owner, "Bob", "member", [space]);
  const gil = await newPerson(owner, "Gil", "guest", [space]);
  const team = await newAgents(owner, "Scouts", "Scout");
  const plain = await newHarness(owner, "Plain");
  for (const participant_id of [...team.agents, plain.id])
    await send(owner, "member.add", { space_id: space, participant_id });
  const upload = await call("POST", "/v1/attachments?filename=a.txt", {
    token: owner.token,
    raw: "some bytes",
  });
  const file = upload.body.attachment_id;
  const { message_id } = await say(owner, space, "@Scout words", { attachments: [{ attachment_id: file }] });
  const run = await startRun(team, space, team.agents[0], [message_id]);
  const hidden = await newSpace(bob, "Bob's own");
  const hiddenMessage = (await say(bob, hidden, "hidden words")).message_id;
  const { token_id } = (await get(owner, "/v1/tokens")).body.items[0];
  return {
    workspace,
    owner,
    bob,
    gil,
    team,
    plain,
    space,
    hidden,
    message: message_id,
    hiddenMessage,
    run,
    file,
    tokenId: token_id,
  };
}

/** Everything that a house reads as: equal before and after what must change nothing. */
export async function stateOf(of: House): Promise<Any> {
  const paths: [Party, string][] = [
    [of.owner, "/v1/events?after=0&limit=200"],
    [of.bob, "/v1/events?after=0&limit=200"],
    [of.team, "/v1/me"],
    [of.owner, "/v1/settings"],
    [of.owner, "/v1/tokens?limit=200"],
    [of.owner, "/v1/participants?limit=200"],
    [of.owner, "/v1/spaces?limit=200"],
    ...["/members", "/context", "/files", "/runs"].map((path): [Party, string] => [
      of.owner,
      `/v1/spaces/${of.space}${path}`,
    ]),
    [of.bob, `/v1/spaces/${of.hidden}/context`],
  ];
  const state: Any = {};
  for (const [by, path] of paths) {
    const { status, body } = await get(by, path);
    expect([path, status]).toEqual([path, 200]);
    // When a token was last used is no state of the room; whether somebody is connected is none of the store.
    state[`${by.id} ${path}`] = JSON.parse(
      JSON.stringify(body, (key, value) => (/^(last_used_at|online)$/.test(key) ? undefined : value)),
    );
  }
  return state;
}

export interface Case {
  /** What is hostile about it, for the report. */
  name: string;
  code: string | RegExp;
  attempt: () => Promise<Any>;
}

/**
 * Runs a table, some at a time, and hands back the cases that were not refused with their code. The houses
 * read as before, and still serve.
 */
export async function notRefused(houses: House[], cases: Case[], atOnce = 1): Promise<string[]> {
  const before = [];
  for (const house of houses) before.push(await stateOf(house));
  const wrong: string[] = [];
  const refuse = async ({ name, code, attempt }: Case) => {
    const body = await attempt();
    const fits = typeof code === "string" ? body?.code === code : code.test(String(body?.code));
    if (!fits || body.type !== "error")
      wrong.push(`${name}: ${code} expected, got ${JSON.stringify(body)?.slice(0, 200)}`);
  };
  for (let at = 0; at < cases.length; at += atOnce)
    await Promise.all(cases.slice(at, at + atOnce).map((one) => refuse(one)));
  for (const [i, house] of houses.entries()) expect(await stateOf(house)).toEqual(before[i]);
  // After all that, it serves.
  for (const house of houses) {
    const { message_id } = await say(house.bob, house.space, "still here");
    const { body } = await get(house.owner, `/v1/spaces/${house.space}/context?lines=1`);
    expect(body.context.lines).toMatchObject([{ message_id }]);
    await send(house.bob, "message.delete", { message_id });
  }
  return wrong;
}

export const bodyOf = async (by: Party, frame: unknown): Promise<Any> =>
  (await post(by, "/v1/events", frame)).body;
