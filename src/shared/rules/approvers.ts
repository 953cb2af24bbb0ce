import type { SpaceRole, WorkspaceRole } from "../wire/parts.ts";

/** Somebody of the workspace as approvers are found among them; without a `space_role` it is not in the space. */
export interface ApproverMember {
  id: string;
  kind: "person" | "agent" | "harness";
  space_role?: SpaceRole | undefined;
  workspace_role?: WorkspaceRole | undefined;
  /** Removed from the workspace, or withdrawn. */
  gone: boolean;
  /** The space's lead agent. */
  lead?: boolean | undefined;
  /** For an agent: the harness that it speaks through. */
  harness_id?: string | undefined;
}

export interface ApproverInput {
  /** The list of the rule that decided, if it names one. */
  fromPolicy?: readonly string[] | undefined;
  /** The list of the ask itself. */
  fromHarness?: readonly string[] | undefined;
  members: readonly ApproverMember[];
  /** Whether the ask matters (APR-4): then it reaches a person. */
  matters: boolean;
  askerHarness: string;
}

export type ResolvedApprovers =
  | { ok: true; approvers: string[]; source: "policy" | "harness" | "space-owners" | "workspace-owners" }
  | { ok: false; path: string; message: string };

const ROLES: readonly string[] = ["owner", "admin", "member", "guest"];

/**
 * Who may decide an ask, as ids (APR-2): policy's list if the rule names one, else the harness's, else the space's
 * owners; when nobody of these is left, the workspace's owners. An empty list names nobody and is as none.
 * A harness's list is checked even where policy's goes before it: what is wrong is told, whoever decides.
 */
export function resolveApprovers(input: ApproverInput): ResolvedApprovers {
  const { fromPolicy, fromHarness, members } = input;
  const fault = (fromHarness ?? [])
    .map((name, i) => ({ path: `approvers.${i}`, message: faultOf(name, members) }))
    .find(({ message }) => message !== undefined);
  if (fault?.message !== undefined) return { ok: false, path: fault.path, message: fault.message };

  const present = members.filter(({ gone }) => !gone);
  const people = present.filter(({ kind }) => kind === "person");
  const byPolicy = (name: string): string[] =>
    name === "lead" ? leadOf(present, input) : idsOf(named(name, people));
  const byHarness = (name: string): string[] => idsOf(named(name, people).filter(isNoGuest));
  const found = hasNames(fromPolicy)
    ? { source: "policy" as const, approvers: fromPolicy.flatMap(byPolicy) }
    : hasNames(fromHarness)
      ? { source: "harness" as const, approvers: fromHarness.flatMap(byHarness) }
      : { source: "space-owners" as const, approvers: byHarness("owner") };
  if (found.approvers.length > 0) return { ok: true, ...found, approvers: [...new Set(found.approvers)] };
  return { ok: true, source: "workspace-owners", approvers: workspaceOwners(members) };
}

/** The workspace's owners: who decides when nobody else is left, also when the last approver is lost later. */
export function workspaceOwners(members: readonly ApproverMember[]): string[] {
  return idsOf(
    members.filter(
      ({ kind, gone, workspace_role }) => kind === "person" && !gone && workspace_role === "owner",
    ),
  );
}

/** Why a harness may not name this approver, if so. */
function faultOf(name: string, members: readonly ApproverMember[]): string | undefined {
  if (name === "owner" || name === "any") return undefined;
  if (name === "lead") return "the lead is a policy rule's to name: name owner, any, role:<name> or a person";
  if (name.startsWith("role:"))
    return ROLES.includes(name.slice(5)) ? undefined : `there is no such role: there are ${ROLES.join(", ")}`;
  const person = members.some(({ id, kind }) => id === name && kind === "person");
  return person ? undefined : "is no person of the workspace: name owner, any, role:<name> or a person's id";
}

/** The people that a name means. An unknown name means nobody: a policy outlives who it names. */
function named(name: string, people: readonly ApproverMember[]): ApproverMember[] {
  if (name === "owner") return people.filter(({ space_role }) => space_role === "owner");
  if (name === "any") return people.filter((one) => one.space_role !== undefined && isNoGuest(one));
  if (name.startsWith("role:")) return people.filter((one) => hasRole(one, name.slice(5)));
  return people.filter(({ id }) => id === name);
}

/**
 * Standing in the space, or in the workspace. Of those outside the space only owners and admins, who answer for the
 * whole workspace: `role:member` must not show a private space's ask to everybody there is.
 */
function hasRole(one: ApproverMember, role: string): boolean {
  if (one.space_role === role) return true;
  const reaches = one.space_role !== undefined || role === "owner" || role === "admin";
  return reaches && one.workspace_role === role;
}

function isNoGuest(one: ApproverMember): boolean {
  return one.space_role !== "guest" && one.workspace_role !== "guest";
}

/** The space's lead agent, never for what matters nor for what its own harness asks. */
function leadOf(present: readonly ApproverMember[], input: ApproverInput): string[] {
  if (input.matters) return [];
  return idsOf(
    present.filter(
      (one) =>
        one.lead === true &&
        one.kind !== "person" &&
        one.space_role !== undefined &&
        one.id !== input.askerHarness &&
        one.harness_id !== input.askerHarness,
    ),
  );
}

function hasNames(list: readonly string[] | undefined): list is readonly string[] {
  return list !== undefined && list.length > 0;
}

function idsOf(members: readonly ApproverMember[]): string[] {
  return members.map(({ id }) => id);
}
