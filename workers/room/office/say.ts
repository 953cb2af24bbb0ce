/** How an item ended, said by the person's agent where it was asked (REPORT-3): of an office that runs its agent. */
import { byteLength, firstBytes } from "../../../src/shared/rules/text.ts";
import type { Report, Thread } from "../../../src/shared/wire/agent/index.ts";
import { isId } from "../../../src/shared/wire/ids.ts";
import { Refused } from "../../kit/result.ts";
import type { RoomLetters } from "../../office/letters.ts";
import { officeAgent } from "../store/office.ts";
import { isGone } from "../store/participants.ts";
import { stay } from "../store/spaces.ts";
import type { ParticipantRow } from "../types.ts";
import { writeAsAgent } from "../write.ts";
import { type Ledger, noneWritten, type Written } from "../writer.ts";

/** The most that a message's text may have (LIMIT-1), with room for whom it names. */
const TEXT_BYTES = 63 * 1024;
const CUT = "\n[cut off]";

/** Says it in every thread of our rooms, else directly with who asked. A place that refuses it is passed over. */
export function takeSay(ledger: Ledger, { handle, report }: RoomLetters["say"]): Written {
  const agent = officeAgent(ledger.db, handle);
  const out = noneWritten();
  if (!agent || isGone(agent)) return out;
  const threads = (report.threads ?? []).filter(({ channel }) => isId(channel, "spc"));
  const frames =
    threads.length > 0
      ? threads.map((thread) => inThread(ledger, report, thread))
      : directly(ledger, agent, report);
  for (const fields of frames) {
    const { rows, effects } = sayOne(ledger, agent, "message.post", fields);
    out.rows.push(...rows);
    out.effects.push(...effects);
  }
  return out;
}

function sayOne(ledger: Ledger, agent: ParticipantRow, type: string, fields: object): Written {
  const id = ledger.clock.mint("evt");
  try {
    return writeAsAgent(ledger, agent, { v: 1, type, id, idempotency_key: id, ...fields });
  } catch (error) {
    if (error instanceof Refused) return noneWritten();
    throw error;
  }
}

function inThread(
  ledger: Ledger,
  report: Report,
  { channel, thread, requester, participant, direct }: Thread,
) {
  // An agent hears only what names it, and a person who takes no part in the thread would not be told (ADDR-4).
  const id = report.requester ?? requester.id;
  const named =
    isId(id, "agt") || !(participant || direct) ? stay(ledger.db, channel, id)?.handle : undefined;
  return {
    space_id: channel,
    text: textOf(report, named ? `@${named} ` : ""),
    ...(isId(thread, "msg") ? { reply_to: thread } : {}),
  };
}

function directly(ledger: Ledger, agent: ParticipantRow, report: Report): object[] {
  if (report.direct === undefined || !isId(report.direct, "usr")) return [];
  const opened = sayOne(ledger, agent, "space.create", { direct: [report.direct] });
  const space_id = opened.receipts[0]?.["space_id"];
  return space_id === undefined ? [] : [{ space_id, text: textOf(report, "") }];
}

/** The words and the links that are not in them already. */
function textOf({ text, links }: Report, before: string): string {
  const more = links
    .filter(({ url }) => !text.includes(url))
    .map(
      ({ url, title }) =>
        `- ${title === undefined || title === url ? url : `${title.replace(/\s+/gu, " ").trim()}: ${url}`}`,
    );
  const words = text.trim() === "" && more.length === 0 ? "Done." : text.trim();
  const whole = `${before}${[words, more.join("\n")].filter((part) => part !== "").join("\n\n")}`;
  return byteLength(whole) <= TEXT_BYTES ? whole : `${firstBytes(whole, TEXT_BYTES - byteLength(CUT))}${CUT}`;
}
