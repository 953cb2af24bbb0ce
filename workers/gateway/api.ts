/**
 * Every route of the Worker, one row each: what `openapi.json` is made from (HTTP-4). The schemas are those
 * that the routes themselves apply. Only the generator and tests import this, so the Worker does not carry it.
 */
import { approvals } from "./api/approvals.ts";
import { events } from "./api/events.ts";
import { files } from "./api/files.ts";
import { officeRoutes } from "./api/office.ts";
import { published } from "./api/published.ts";
import { rooms } from "./api/rooms.ts";
import type { Route } from "./api/route.ts";
import { streams } from "./api/streams.ts";
import { workspace } from "./api/workspace.ts";

export { errorsOf, type Route } from "./api/route.ts";

/** A group of routes, as the document shows them. */
export interface Group {
  name: string;
  description: string;
  routes: readonly Route[];
}

export const GROUPS: readonly Group[] = [
  { name: "Workspace", description: "People, harnesses, tokens and settings", routes: workspace },
  { name: "Rooms", description: "Spaces and what is in them", routes: rooms },
  { name: "Events", description: "The log: writing it and following it", routes: events },
  { name: "Files", description: "Attachments", routes: files },
  {
    name: "Approvals",
    description: "What agents ask before they act, the policy, the audit",
    routes: approvals,
  },
  {
    name: "Office",
    description: "The team, its people and their queues, tickets, events",
    routes: officeRoutes,
  },
  { name: "Context", description: "What a model sees, and when it is asked", routes: streams },
  { name: "Published", description: "What everybody may read", routes: published },
];

export const API: readonly Route[] = GROUPS.flatMap(({ routes }) => routes);
