/** What agents ask before they act, the policy, the audit (APR, POL). */
import * as http from "../../../src/shared/wire/http.ts";
import * as query from "../../../src/shared/wire/query.ts";
import type { Route } from "./route.ts";

export const approvals: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/approvals",
    summary: "Asks that you may see, newest first",
    description: "They are decided by the event `approval.decide` and handed on by `approval.route`.",
    query: query.approvalsQuery,
    answer: http.page(http.approvalItem),
  },
  {
    method: "GET",
    path: "/v1/grants",
    summary: "Standing grants that hold",
    description: "They are taken back by the event `grant.revoke`.",
    query: query.pageQuery,
    answer: http.page(http.grantItem),
  },
  {
    method: "GET",
    path: "/v1/policy",
    summary: "The policy, as it stands or as it stood",
    description: "It is changed by the event `policy.set`.",
    query: query.policyQuery,
    answer: http.policyAnswer,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/policy/try",
    summary: "What the policy would do with an ask, and why",
    description: "Nobody is asked and nothing is stored.",
    body: http.tryPolicy,
    answer: http.policyTried,
  },
  {
    method: "GET",
    path: "/v1/audit",
    summary: "The audit's records, from the first",
    description: "For owners and admins. Each holds the hash of the one before.",
    query: query.pageQuery,
    answer: http.page(http.auditItem),
  },
  {
    method: "GET",
    path: "/v1/audit/verify",
    summary: "Whether the audit is the chain that was written",
    description: "`first_fault` is the number of the first record that is not as it was, or is missing.",
    answer: http.auditVerified,
  },
];
