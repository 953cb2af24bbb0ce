/** policy.set, grant.revoke (POL-2, APR-7). */
import { DEFAULT_CLASSES, validatePolicy } from "../../../src/shared/rules/policy.ts";
import type { PolicyClasses, Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { addAudit, sightOf } from "../store/audit.ts";
import { grant, policyOf } from "../store/policy.ts";
import { stay } from "../store/spaces.ts";
import type { Writer } from "../writer.ts";
import { administers, mustBePerson } from "./standing.ts";

/** Sets the whole list; asks that are open stay as they were put (POL-2). */
export function set(w: Writer, event: Verb<"policy.set">): void {
  if (!administers(w)) refuse("forbidden", "Only an owner or an admin changes the workspace's policy.");
  const checked = validatePolicy(event.rules, event.classes);
  const faults = [...(checked.ok ? [] : checked.faults), ...takenFromDefaults(event.classes)];
  const [first] = faults;
  if (!checked.ok || first)
    refuse("invalid", `The policy stays as it was: ${first?.path} ${first?.message}.`, {
      details: faults.slice(0, 50),
    });
  const before = policyOf(w.db);
  const version = (before?.version ?? 0) + 1;
  const classes = event.classes === undefined ? (before?.classes ?? {}) : checked.classes;
  w.append("policy.changed", { body: { version }, main: true, receipt: { policy: { version } } });
  w.db.run(
    "INSERT INTO policies (version, rules, classes, at, by) VALUES (?, ?, ?, ?, ?)",
    version,
    JSON.stringify(checked.rules),
    JSON.stringify(classes),
    w.now,
    w.caller.participant.id,
  );
  addAudit(w, {
    type: "policy.changed",
    by: w.caller.participant.id,
    subject: `policy ${version}`,
    saw: sightOf({ rules: checked.rules, classes }),
    detail: { version, rules: checked.rules.map((r) => r.id) },
  });
}

/** What the default map says of a verb stays: classes are only ever added (POL-4). */
function takenFromDefaults(classes: PolicyClasses | undefined): { path: string; message: string }[] {
  return Object.entries(classes ?? {}).flatMap(([glob, one]) => {
    const given = DEFAULT_CLASSES[glob];
    if (given === undefined || given === one) return [];
    return [
      { path: `classes.${glob}`, message: `is ${given} in every workspace: write another glob beside it` },
    ];
  });
}

export function revokeGrant(w: Writer, event: Verb<"grant.revoke">): void {
  mustBePerson(w);
  const me = w.caller.participant.id;
  const row = grant(w.db, event.grant_id);
  const own = row?.given_by === me || administers(w);
  if (!row || (!own && !stay(w.db, row.space_id, me))) notFound("grant");
  if (!own) refuse("forbidden", "A grant is taken back by who gave it, or by an owner or an admin.");
  if (row.revoked_at !== null) refuse("conflict", "This grant was taken back already.");
  const body = { grant_id: row.id, agent_id: row.agent_id };
  w.append("grant.revoked", { spaceId: row.space_id, body, main: true });
  w.db.run("UPDATE grants SET revoked_at = ?, revoked_by = ? WHERE id = ?", w.now, me, row.id);
  addAudit(w, { type: "grant.revoked", by: me, subject: row.id, detail: body });
}
