/**
 * The model of a person whom the office runs (CTX-8): its name is the team config's, its endpoint the deployment's,
 * the key the workspace's own where it has one. Nothing else says where a prompt is sent.
 */
import { type Failure, failure } from "../../../src/context/failures.ts";
import {
  type AiBinding,
  type Answer,
  type AskOptions,
  type Model,
  type ModelForm,
  openAiModel,
  workersAiModel,
} from "../../../src/context/model.ts";
import type { Clock } from "../../../src/sdk/clock.ts";
import { CALLS } from "../calls.ts";
import type { Look } from "../desk.ts";

/** Models of Workers AI, which need the binding and no key. */
const WORKERS_AI = "@cf/";
/** The workspace's own key, where it has put one (SECRET-1). */
const KEY = "openai_api_key";

/** What the deployment may have: both are optional. */
type Given = Env & { AI?: AiBinding; OPENAI_API_KEY?: string };

/** All that decides where and how a person's model is asked, as one text: another one is another model. */
export function modelName({ team, handle }: Pick<Look, "team" | "handle">): {
  name: string;
  form: ModelForm;
  output: number | undefined;
} {
  const name = team.people.find((person) => person.handle === handle)?.model ?? "";
  const { output, api = "chat" } = team.models[name] ?? {};
  const form = name.startsWith(WORKERS_AI) || api === "chat" ? "openai-chat" : "openai-responses";
  return { name, form, output };
}

export function modelOf(look: () => Look, clock: Clock): Model {
  const { name, form, output } = modelName(look());
  return {
    name,
    form,
    ask: (prompt, options) => ask(look(), { name, form, output, clock }, prompt, options),
  };
}

interface Settings {
  name: string;
  form: ModelForm;
  output: number | undefined;
  clock: Clock;
}

async function ask(
  look: Look,
  { name, form, output, clock }: Settings,
  prompt: object,
  options?: AskOptions,
): Promise<Answer> {
  const env = look.env as Given;
  if (name === "") return not("The team's config names no model for this person: people[].model.");
  const settings = { model: name, form, output, clock };
  if (name.startsWith(WORKERS_AI)) {
    if (!env.AI) return not("This deployment has no AI binding: add it to wrangler.toml.");
    return workersAiModel({ ...settings, ai: env.AI }).ask(prompt, options);
  }
  if (!env.OPENAI_BASE_URL)
    return not("This deployment has no OPENAI_BASE_URL: set it in wrangler.toml, up to /v1.");
  const own = await CALLS.secretValues(env, look.workspace, KEY);
  const keys = own.length > 0 ? own : env.OPENAI_API_KEY ? [env.OPENAI_API_KEY] : [undefined];
  let answer: Answer | undefined;
  // While a key is rotated the one before it still works.
  for (const apiKey of keys) {
    answer = await openAiModel({ ...settings, baseUrl: env.OPENAI_BASE_URL, apiKey }).ask(prompt, options);
    if (answer.ok || answer.failure.reason !== "denied") break;
  }
  return answer ?? not("There is no key for the model's endpoint.");
}

function not(message: string): Answer {
  const why: Failure = { ...failure("not_found"), message };
  return { ok: false, failure: why, text: "" };
}
