import { expect, test } from "vitest";
import { connect, newHarness, newPerson, newSpace, newWorkspace, say } from "../testing/client.ts";

test("ENV-1 NEW-1 a person asks an agent and its harness is handed the turn", async () => {
  const { owner } = await newWorkspace();
  const harness = await newHarness(owner, "Scouts");
  const socket = await connect(harness, { agents: [{ name: "Scout" }] });
  const agent = socket.frames[0].agents[0].agent_id;
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [agent, bob.id]);
  const page = await connect(bob);
  const receipt = await say(bob, space, "@Scout what is up?");
  const turn = await socket.next((f) => f.type === "message.new");
  expect(turn.message_id).toBe(receipt.message_id);
  await page.next((f) => f.type === "message.posted");
});
