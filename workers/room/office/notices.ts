/** What the office says in rooms without speaking as anybody: notices, and that a job began (QUEUE-6, SPEND-1). */
import { firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { RoomLetters } from "../../office/letters.ts";
import { beginJob } from "../judge/spend.ts";
import { officeAgent } from "../store/office.ts";
import { space } from "../store/spaces.ts";
import { writeAsRoom } from "../write.ts";
import type { Ledger, Written } from "../writer.ts";

const MAX_TEXT = 2000;
const MAX_ABOUT = 20;

/** A line in each of these spaces; people of the team are named to the room by handle. */
export function takeNotice(ledger: Ledger, of: RoomLetters["notice"]): Written {
  const { db } = ledger;
  const about = of.about.slice(0, MAX_ABOUT).map((id) => officeAgent(db, id)?.id ?? id);
  return writeAsRoom(ledger, (w) => {
    for (const spaceId of new Set(of.spaceIds))
      if (space(db, spaceId))
        w.append("notice.posted", {
          spaceId,
          body: { code: of.code, text: firstCodePoints(of.text, MAX_TEXT), about },
        });
  });
}

/** Work was filed from a space: what is spent there from now on is another job's. */
export function takeBrief(ledger: Ledger, { spaceId }: RoomLetters["brief"]): Written {
  return writeAsRoom(ledger, (w) => {
    if (!space(w.db, spaceId)) return;
    const row = w.append("notice.posted", {
      spaceId,
      body: { code: "brief", text: "Work was filed from here, so a new job began.", about: [] },
    });
    beginJob(w, spaceId, row.seq);
  });
}
