/** The scripted model for the tests in workerd: one server for all of them, in a process that can open one. */
import { startModelServer } from "../../demo/model-server.ts";
import type { Asked, Scripted } from "../../demo/model-wire.ts";

/** Listens where the tests' `OPENAI_BASE_URL` points. */
export default async function setUp(): Promise<() => Promise<void>> {
  const server = await startModelServer({ port: Number(process.env["MODEL_PORT"]), mind });
  return () => server.close();
}

/**
 * What no script answers is answered by the newest message that has one in it: a line `script:` and a list. The step
 * is known by how many answers stand after that message, so that asking again gives the same.
 */
function mind({ messages }: Asked): Scripted {
  const at = messages.findLastIndex(({ role, text }) => role === "user" && /^script:/m.test(text));
  const [, json] = /^script:(.*)$/m.exec(messages[at]?.text ?? "") ?? [];
  if (json === undefined) return { text: "Nobody has told me what to say." };
  const steps = JSON.parse(json) as Scripted[];
  const said = messages.slice(at).filter(({ role }) => role === "assistant").length;
  return steps[said] ?? { text: "There is nothing more to say." };
}
