/** The calls that the gateway makes to the Board, the Offices and the Room, with who asks (letters.ts, `Identity`). */
import type * as office from "../../src/shared/wire/office.ts";
import type { WorkEventGiven } from "../../src/shared/wire/work.ts";
import type { Result } from "../kit/result.ts";
import type { Identity } from "../office/letters.ts";
import { boardOf as boardStub, type C, credentialOf, must, officeOf as officeStub } from "./context.ts";

type Answer<T> = Promise<Result<T>>;
interface Page<T> {
  items: T[];
  next?: string;
}

export interface BoardCalls {
  knows(handle: string): Promise<boolean>;
  putTeam(
    by: Identity,
    asked: { workspace: string; document: string; format: "yaml" | "json"; ifMatch?: string },
  ): Answer<office.TeamAnswer>;
  getTeam(by: Identity): Answer<office.TeamAnswer>;
  people(by: Identity): Answer<{ items: office.PersonItem[] }>;
  pauseSubscription(by: Identity, name: string, asked: office.PausePerson): Answer<office.SubscriptionAnswer>;
  resumeSubscription(by: Identity, name: string): Answer<office.SubscriptionAnswer>;
  putSecret(by: Identity, name: string, value: string): Answer<void>;
  tickets(by: Identity, asked: office.TicketsQuery): Answer<Page<office.TicketItem>>;
  ticket(by: Identity, key: string): Answer<office.TicketAnswer>;
  createTicket(by: Identity, asked: office.CreateTicket): Answer<office.TicketAnswer>;
  patchTicket(by: Identity, key: string, asked: office.PatchTicket): Answer<office.TicketAnswer>;
  commentTicket(by: Identity, key: string, asked: office.CommentTicket): Answer<office.TicketComment>;
  workEvent(by: Identity, asked: WorkEventGiven): Answer<office.EventTaken>;
  workEvents(by: Identity, asked: office.WorkEventsQuery): Answer<Page<office.WorkEventItem>>;
  trace(by: Identity, eventId: string): Answer<office.TraceAnswer>;
}
export interface OfficeCalls {
  person(by: Identity): Answer<office.PersonAnswer>;
  addItem(by: Identity, asked: office.AddItem): Answer<office.ItemAnswer>;
  patchItem(by: Identity, id: string, asked: office.PatchItem): Answer<office.ItemAnswer>;
  pause(by: Identity, asked: office.PausePerson): Answer<office.StatusAnswer>;
  resume(by: Identity): Answer<office.StatusAnswer>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export function boardOf(env: Env, workspace: string): BoardCalls {
  return boardStub(env, workspace) as unknown as BoardCalls;
}

export function officeOf(env: Env, workspace: string, handle: string): OfficeCalls {
  return officeStub(env, workspace, handle) as unknown as OfficeCalls;
}

/** Who asks, as the Room found from the token; refuses when nobody does (AUTH-1). */
export async function identityOf(c: C): Promise<Identity> {
  return must(await c.get("room").identify(credentialOf(c)));
}
