/** Asks, questions and grants as people and their harness are told of them (APR-2, APR-6, APR-10, ASK-1). */
import type { FactType } from "../../../src/shared/wire/index.ts";
import {
  type ApprovalRow,
  approval,
  decidedInput,
  isViewer,
  question,
  requestOf,
} from "../store/approvals.ts";
import type { LogRow } from "../types.ts";
import type { Round, Viewer } from "./viewer.ts";

type Body = Record<string, unknown>;

/** The ask behind a fact of its life; undefined for any other fact. */
function askOf(round: Round, row: LogRow): ApprovalRow | undefined {
  if (!row.type.startsWith("approval.")) return undefined;
  return round.once(`ask ${row.seq}`, () => {
    const { approval_id } = JSON.parse(row.body) as { approval_id: string };
    return approval(round.db, approval_id);
  });
}

/** Whether a person who is not in the space sees this fact: they are or were the ask's approver (APR-2). */
export function seesAsApprover(round: Round, viewer: Viewer, row: LogRow): boolean {
  const ask = askOf(round, row);
  return ask !== undefined && isViewer(round.db, viewer.id, ask.id);
}

/** What a fact says beyond its row: the log itself holds no words (LOG-4). */
export function askFields(round: Round, row: LogRow, body: Body): Body {
  const ask = askOf(round, row);
  if (ask && row.type === "approval.requested")
    return {
      ...requestOf(ask),
      agent_id: ask.agent_id,
      expires_at: new Date(ask.expires_at).toISOString(),
      ...(ask.rule === null ? {} : { rule: ask.rule }),
      version: ask.version,
    };
  if (ask && row.type === "approval.decided") return { ...body, ...decidedInput(ask) };
  if (row.type.startsWith("question.")) return { ...body, ...questionFields(round, row.type, body) };
  return body;
}

function questionFields(round: Round, type: FactType, body: Body): Body {
  const asked = question(round.db, String(body.question_id));
  if (!asked) return {};
  if (type === "question.answered") return { text: asked.answer ?? "" };
  return {
    agent_id: asked.agent_id,
    text: asked.text,
    ...(asked.options === null ? {} : { options: JSON.parse(asked.options) as unknown }),
    ...(asked.put_to === null ? {} : { to: JSON.parse(asked.put_to) as unknown }),
  };
}

/**
 * The fact as a harness is sent it: of its own asks how they ended, and of an ask that one of its agents may
 * decide what people see. Undefined: nothing. An expiry reaches the harness as what it decided (APR-6).
 */
export function askForHarness(
  round: Round,
  viewer: Viewer,
  row: LogRow,
): { type?: FactType; body: Body } | undefined {
  const body = JSON.parse(row.body) as Body;
  if (row.type === "question.answered") {
    const own = question(round.db, String(body.question_id))?.harness_id === viewer.id;
    return own ? { body: askFields(round, row, body) } : undefined;
  }
  const ask = askOf(round, row);
  if (!ask) return undefined;
  if (ask.harness_id !== viewer.id) {
    const decides = [...viewer.own].some((id) => isViewer(round.db, id, ask.id));
    return decides ? { body: askFields(round, row, body) } : undefined;
  }
  switch (row.type) {
    case "approval.decided":
    case "approval.expired":
      return {
        type: "approval.decided",
        body: {
          ...body,
          ...(row.type === "approval.expired" ? { via: "expiry", version: ask.version } : {}),
          ...decidedInput(ask),
          ...(ask.resume_token === null ? {} : { resume_token: ask.resume_token }),
        },
      };
    case "approval.cancelled":
      return { body };
    default:
      return undefined;
  }
}
