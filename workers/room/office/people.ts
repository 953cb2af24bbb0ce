/** The team's people as agents of the built-in office harness (TEAM-2, TEAM-3). */
import { cleanName, firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { Db } from "../../kit/db.ts";
import type { RoomLetters } from "../../office/letters.ts";
import { officeAgent, officeAgents, officeHarness } from "../store/office.ts";
import { insertParticipant, participant } from "../store/participants.ts";
import type { ParticipantRow } from "../types.ts";
import { renameTo, withdrawAgent } from "../verbs/participants.ts";
import { writeAsOffice } from "../write.ts";
import { type Ledger, noneWritten, type Written } from "../writer.ts";

const HARNESS = "Office";
const MOST_IN_NAME = 80;

/** Who the team is now: the new are declared, the others renamed; who is left out is withdrawn. */
export function takePeople(ledger: Ledger, { people }: RoomLetters["people"]): Written {
  const { db } = ledger;
  if (people.length === 0 && !officeHarness(db)) return noneWritten();
  const harness = officeHarness(db) ?? makeHarness(ledger);
  return writeAsOffice(ledger, harness, { kind: "harness", id: harness.id }, (w) => {
    const named = new Set(people.map((p) => p.handle));
    for (const agent of officeAgents(db))
      if (agent.withdrawn === 0 && !named.has(agent.office_handle ?? "")) withdrawPerson(agent);
    for (const { handle, name, hears } of people) {
      const shown = cleanName(firstCodePoints(name, MOST_IN_NAME)) ?? handle;
      const known = officeAgent(db, handle);
      const id = known?.id ?? w.clock.mint("agt");
      const body = { agent_id: id, harness_id: harness.id, name: shown };
      if (!known) {
        w.append("agent.declared", { body });
        insertParticipant(db, {
          id,
          kind: "agent",
          name: shown,
          harnessId: harness.id,
          officeHandle: handle,
          now: w.now,
        });
        listen(db, id, hears);
        continue;
      }
      listen(db, id, hears);
      if (known.withdrawn !== 0) {
        // The same agent again, with its history (TEAM-3).
        w.append("agent.declared", { body });
        db.run("UPDATE participants SET withdrawn = 0 WHERE id = ?", id);
      }
      if (known.name !== shown) renameTo(w, known, shown);
    }

    function withdrawPerson(agent: ParticipantRow): void {
      withdrawAgent(w, agent);
      db.run("UPDATE participants SET office_paused = 0 WHERE id = ?", agent.id);
      // Put back, the person needs a new token (TEAM-3).
      db.run("DELETE FROM tokens WHERE participant_id = ?", agent.id);
    }
  });
}

/** A person is paused or goes on: what is asked of a paused one is answered by a notice (ADDR-5). */
export function takePaused(ledger: Ledger, { handle, paused }: RoomLetters["paused"]): Written {
  const agent = officeAgent(ledger.db, handle);
  const harness = officeHarness(ledger.db);
  if (!agent || !harness || agent.withdrawn !== 0 || (agent.office_paused !== 0) === paused)
    return noneWritten();
  return writeAsOffice(ledger, harness, { kind: "harness", id: harness.id }, (w) => {
    w.append(paused ? "agent.paused" : "agent.resumed", {
      body: { agent_id: agent.id, harness_id: harness.id },
      main: true,
    });
    w.db.run("UPDATE participants SET office_paused = ? WHERE id = ?", paused ? 1 : 0, agent.id);
  });
}

function makeHarness({ db, clock }: Ledger): ParticipantRow {
  const id = clock.mint("hrn");
  insertParticipant(db, { id, kind: "harness", name: HARNESS, now: clock.now() });
  const made = participant(db, id);
  if (!made) throw new Error("a harness just made is not there");
  return made;
}

/** Whether the person's office is told what is said where its agent is (CTX-7). */
function listen(db: Db, id: string, hears: true | undefined): void {
  db.run("UPDATE participants SET office_hears = ?1 WHERE id = ?2 AND office_hears <> ?1", hears ? 1 : 0, id);
}
