/** The reasons behind an event as somebody is told them. */
import { whyAnswer } from "../../src/shared/wire/http.ts";
import { type Any, call, type Party } from "./client.ts";

export async function whyOf(by: Party, id: string): Promise<Any> {
  const { status, body } = await call("GET", `/v1/why/${id}`, { token: by.token });
  if (status !== 200) throw new Error(`no reasons: ${JSON.stringify(body)}`);
  return whyAnswer.parse(body);
}
