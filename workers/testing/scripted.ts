/** What the tests in workerd tell the scripted model to say, and what it was asked (demo/model-server.ts). */
import { env } from "cloudflare:workers";
import type { Scripted, Seen } from "../../demo/model-wire.ts";
import { newId } from "./client.ts";

/** A model with a script of its own. */
export class ScriptedModel {
  readonly name = newId("evt");
  readonly #url = `${new URL(env.OPENAI_BASE_URL).origin}/script/${this.name}`;

  async says(...answers: Scripted[]): Promise<void> {
    await fetch(this.#url, { method: "PUT", body: JSON.stringify(answers) });
  }
  /** Its requests, once so many came and so many of them ended. */
  async asked(came = 0, ended = 0): Promise<Request[]> {
    const answer = await fetch(`${this.#url}?came=${came}&ended=${ended}`);
    if (!answer.ok) throw new Error(await answer.text());
    const { requests } = await answer.json<{ requests: Request[] }>();
    return requests;
  }
  /** What it holds back goes on. */
  async goesOn(): Promise<void> {
    await fetch(`${this.#url}/release`, { method: "POST" });
  }
}

type Request = Omit<Seen, "body"> & { body: Body };
interface Body {
  messages: {
    role: string;
    content: string | { type: string; text?: string; image_url?: { url: string } }[];
  }[];
  tools?: { function: { name: string } }[];
}
