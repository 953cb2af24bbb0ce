/** Deliveries as the contract shows them: its examples made anew, and every field that this version fills (HTTP-4). */
import { describe, expect, test } from "vitest";
import contract from "../../contract/chips.json";
import { approvalRequest, messageNew, messageOverheard } from "../../src/shared/wire/index.ts";
import {
  type Any,
  call,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  say,
  send,
} from "../testing/client.ts";
import { as, declare, pulled, upload } from "../testing/room.ts";

/** What later work fills; the contract lets each be absent. */
const LATER = /^(exchange|handed|lead|context\.spend)\b|(^|\.)held$/;
/** What cannot occur: a delivery's actor is the system, it is no client's write, and only said lines are answered. */
const NEVER = /^(actor\.harness_id|idempotency_key|replying_to(\.before\[\])?\.(name|previous|title))$/;
/** Maps by participant: their keys are ids. */
const MAPS = new Set(["room.notes", "room.rules"]);

/** Every field that a value has, by the contract's way of writing paths. */
function paths(value: unknown, at = "", into = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) paths(item, `${at}[]`, into);
  else if (typeof value === "object" && value !== null && !MAPS.has(at))
    for (const [key, inner] of Object.entries(value)) {
      const path = at === "" ? key : `${at}.${key}`;
      into.add(path);
      paths(inner, path, into);
    }
  return into;
}

function fieldsOf(type: "message.new" | "message.overheard"): string[] {
  return contract[type].fields.map((f) => f.field);
}

async function last(by: Party, type: string): Promise<Any> {
  return (await pulled(by)).findLast((f) => f.type === type);
}

/** Arjun's space with Priya and the harnesses Ledger and Scout, which declare no agents, as in the examples. */
async function theExamples() {
  const { id, owner: ada } = await newWorkspace();
  const arjun = await newPerson(ada, "Arjun", "admin");
  const [ledger, scout] = [await newHarness(ada, "Ledger"), await newHarness(ada, "Scout")];
  const space = await newSpace(arjun, "Northwind", [ledger.id, scout.id]);
  await say(scout, space, "Ready.");
  const priya = await newPerson(ada, "Priya");
  await send(arjun, "member.add", { space_id: space, participant_id: priya.id });
  await say(priya, space, "@Ledger Northwind want the PO before they hold the delivery slot.");
  await say(ledger, space, "Their slot holds until Friday. PO-4471 is still unsigned in the tracker.");
  const voice = await upload(id, arjun.id, {
    filename: "voice-note.m4a",
    content: "voice",
    mime_type: "audio/mp4",
    transcript: "I'm signing it now, give me a minute.",
  });
  const { message_id } = await say(ledger, space, "Who signs?");
  await say(arjun, space, "", { attachments: [{ attachment_id: voice }], reply_to: message_id });
  return { id, ada, arjun, priya, ledger, scout, space };
}

describe("the contract's examples", () => {
  test("HTTP-4 NEW-1 WIN-1: message.new, made anew, has the example's shape", async () => {
    const { id, arjun, scout, space } = await theExamples();
    const pdf = await upload(id, arjun.id, {
      filename: "PO-4471.pdf",
      content: "%PDF",
      mime_type: "application/pdf",
    });
    await say(
      arjun,
      space,
      "@Scout here's the signed PO. Get it confirmed with Northwind and update the tracker.",
      {
        attachments: [{ attachment_id: pdf }],
      },
    );
    const made = await last(scout, "message.new");
    const { example } = contract["message.new"];
    const wanted = [...paths(example)].filter((p) => !LATER.test(p));
    expect(wanted.filter((p) => !paths(made).has(p))).toEqual([]);
    expect([...paths(made)].filter((p) => !fieldsOf("message.new").includes(p))).toEqual([]);
    expect(made).toMatchObject({
      v: 1,
      actor: example.actor,
      from: { participant_id: arjun.id, kind: "person", display_name: "Arjun", role: "owner" },
      attachments: [{ filename: "PO-4471.pdf", mime_type: "application/pdf" }],
      addressed_to: [scout.id],
    });
    // To a harness without agents there is no `for`, as in the example.
    expect(made).not.toHaveProperty("for");
    const shown = made.context.lines.map((l: Any) => [l.kind, l.from.kind, l.from.name]);
    const inExample = example.context.lines.map((l) => [l.kind, l.from.kind, l.from.name]);
    expect(shown.filter((_: unknown, i: number) => made.context.lines[i].text !== "Who signs?")).toEqual(
      inExample,
    );
    expect(made.context.lines.at(-1)).toMatchObject({
      text: "",
      transcript: "I'm signing it now, give me a minute.",
      files: ["voice-note.m4a"],
      addressed_to: [expect.stringMatching(/^hrn_/)],
    });
    expect(made.context).toMatchObject({ truncated: false, before: made.context.lines[0].seq });
  });

  test("HTTP-4 NEW-5: message.overheard, made anew, has the example's shape", async () => {
    const { ledger, priya, scout, space, ada, arjun } = await theExamples();
    const other = await newHarness(ada, "Other");
    await send(arjun, "member.add", { space_id: space, participant_id: other.id });
    await say(ledger, space, "@Scout the PO is confirmed; can you update the tracker?");
    const made = await last(other, "message.overheard");
    const { example } = contract["message.overheard"];
    const wanted = paths(example);
    expect([...wanted].filter((p) => !paths(made).has(p))).toEqual([]);
    expect([...paths(made)].filter((p) => !wanted.has(p))).toEqual(["seq"]);
    expect(made).toMatchObject({
      actor: example.actor,
      from: { participant_id: ledger.id, kind: "harness", display_name: "Ledger", role: "member" },
      text: example.text,
      mentions: [scout.id],
      addressed_to: [scout.id],
    });
    expect(priya.id).toMatch(/^usr_/);
  });

  test("HTTP-4: approval.request is read as it stands in the example", () => {
    const { example } = contract["approval.request"];
    expect(approvalRequest.parse({ ...example, idempotency_key: "k" })).toMatchObject(example);
  });
});

describe("every field", () => {
  test("HTTP-4 NEW-1 NEW-5 WIN-1 NOTE-1 REPLY-1: is filled where its situation is, and none beside the contract's", async () => {
    const { id, ada, arjun, ledger, scout, space } = await theExamples();
    const team = await newHarness(ada, "Team");
    const [penny = "", quill = ""] = await declare(team, "Penny", "Quill");
    const [rex = ""] = await declare(ledger, "Rex");
    for (const agent of [penny, quill, rex])
      await send(arjun, "member.add", { space_id: space, participant_id: agent });
    await call("PUT", "/v1/me", { token: arjun.token, body: { time_zone: "Europe/Berlin" } });
    const run = { run_id: newId("run"), space_id: space, agent_id: quill, message_ids: [] };
    await send(team, "run.start", run);
    await send(team, "run.step", { run_id: run.run_id, text: "counting" });
    const idle = { ...run, run_id: newId("run"), agent_id: penny };
    await send(team, "run.start", idle);
    await send(team, "run.end", { run_id: idle.run_id, outcome: "done" });
    const media = { width: 4, height: 3, duration_ms: 900, transcript: "spoken" };
    const first = await upload(id, arjun.id, {
      filename: "clip.mp4",
      content: "1",
      mime_type: "video/mp4",
      ...media,
    });
    const second = await upload(id, arjun.id, {
      filename: "clip.mp4",
      content: "2",
      mime_type: "video/mp4",
      ...media,
    });
    for (const text of ["one", "two"])
      await say(arjun, space, text, { attachments: [{ attachment_id: first }] });
    const asked = await say(arjun, space, "with a clip", { attachments: [{ attachment_id: first }] });
    const gone = await say(arjun, space, "gone soon");
    await say(team, space, "so far", as(penny));
    await send(arjun, "message.edit", { message_id: asked.message_id, text: "with a clip, edited" });
    await send(arjun, "message.delete", { message_id: gone.message_id });
    await say(arjun, space, "a clip in context", { attachments: [{ attachment_id: first }] });
    await send(arjun, "participant.rename", { name: "Arjun K" });
    await send(arjun, "space.rename", { space_id: space, title: "Northwind II" });
    const full = {
      reply_to: asked.message_id,
      session_ref: "visit-7",
      attachments: [{ attachment_id: second, replaces: first }],
    };
    await say(arjun, space, "@Penny please", full);
    await say(arjun, space, "@Penny a deleted one", { reply_to: gone.message_id });
    await say(scout, space, "hm, @Rex", full);
    const versions = await say(arjun, space, "and the new version", full);
    await say(arjun, space, "@Penny see", { reply_to: versions.message_id });
    await say(team, space, "@Rex counted", { ...as(quill), run_id: run.run_id });
    await say(team, space, "counted", { ...as(quill), run_id: run.run_id });
    const frames = [...(await pulled(team)), ...(await pulled(ledger))];
    for (const [type, schema] of [
      ["message.new", messageNew],
      ["message.overheard", messageOverheard],
    ] as const) {
      const seen = new Set<string>();
      for (const frame of frames.filter((f) => f.type === type)) {
        expect(schema.parse(frame)).toEqual(frame);
        paths(frame, "", seen);
      }
      const fields = fieldsOf(type);
      expect([type, [...seen].filter((p) => !fields.includes(p))]).toEqual([type, []]);
      const missing = fields.filter((p) => !seen.has(p) && !LATER.test(p) && !NEVER.test(p));
      // Lines before what is answered go with a turn only.
      const never = type === "message.new" ? NEVER : /^replying_to\.before/;
      expect([type, missing.filter((p) => !never.test(p))]).toEqual([type, []]);
    }
  });
});
