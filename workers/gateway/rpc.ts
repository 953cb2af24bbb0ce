/** The calls that the gateway makes to an Office, with who asks (letters.ts, `Identity`). */
import type * as office from "../../src/shared/wire/office.ts";
import type { Result } from "../kit/result.ts";
import type { Identity } from "../office/letters.ts";
import { officeOf as officeStub } from "./context.ts";

type Answer<T> = Promise<Result<T>>;
export interface OfficeCalls {
  person(by: Identity): Answer<office.PersonAnswer>;
  addItem(by: Identity, asked: office.AddItem): Answer<office.ItemAnswer>;
  patchItem(by: Identity, id: string, asked: office.PatchItem): Answer<office.ItemAnswer>;
  pause(by: Identity, asked: office.PausePerson): Answer<office.StatusAnswer>;
  resume(by: Identity): Answer<office.StatusAnswer>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export function officeOf(env: Env, workspace: string, handle: string): OfficeCalls {
  return officeStub(env, workspace, handle) as unknown as OfficeCalls;
}
