import { expect, test } from "vitest";
import type { Any } from "../testing/client.ts";
import { factsOf } from "../testing/judge.ts";
import { randomTalk } from "../testing/talk.ts";
import { whyOf } from "../testing/why.ts";

const HOLDING = new Set(["GUARD-2", "GUARD-5", "GUARD-7", "SPEND-2", "SPEND-5"]);

test.each([14, 25])(
  "WHY-1 for every event of a random log the reasons agree with what happened (seed %i)",
  async (seed) => {
    const talk = await randomTalk(seed, 140);
    const facts = await factsOf(talk.owner, talk.space);
    const messages = facts.filter((f) => f.type === "message.posted");
    const handed = facts.filter((f) => f.type === "message.handed");
    for (const fact of facts) {
      const answer = await whyOf(talk.owner, fact.id);
      expect(answer).toMatchObject({ event_id: fact.id, type: fact.type, seq: fact.seq });
      for (const { rule, says } of answer.decisions) {
        expect(rule).toMatch(/^[A-Z]+-\d+$/);
        expect(says).toMatch(/^.{10,400}\.$/su);
        expect(says).not.toMatch(/undefined|null|NaN|(usr|agt|hrn)_/);
      }
      if (fact.type === "message.posted") {
        const { addressed_to, would_have_been } = answer.decisions[0].facts;
        const from = answer.decisions.filter((d: Any) => d.facts.held_from !== undefined);
        if (fact.held) {
          expect(fact.addressed_to).toEqual([]);
          expect(from).toHaveLength(1);
          expect(HOLDING).toContain(from[0].rule);
          expect(from[0].facts.held_from).toEqual(addressed_to);
        } else {
          expect(from).toEqual([]);
          expect(fact.addressed_to).toEqual(would_have_been ? [] : addressed_to);
        }
        // Counted anew from the log: what agents said for agents since where the count began.
        const counted = answer.decisions.find(
          (d: Any) => d.facts.count !== undefined && d.rule === "GUARD-1",
        );
        if (counted) {
          const since: Any[] = [];
          for (const m of messages) {
            if (m.seq <= counted.facts.since_seq || m.seq > fact.seq || m.actor.kind === "person") continue;
            const first = (await whyOf(talk.owner, m.id)).decisions[0].facts;
            if (first.addressed_to?.length > 0) since.push(m);
          }
          expect(counted.facts.count).toBe(since.length);
        }
        const told = answer.decisions
          .filter((d: Any) => d.facts.to !== undefined && d.facts.seq !== undefined)
          .map((d: Any) => [d.facts.to, d.facts.seq]);
        const happened = handed
          .filter((h) => h.message_id === fact.message_id)
          .flatMap((h) => h.takers.map((id: string) => [id, h.seq]));
        // An agent that was handed it twice has the newer hand-over.
        expect(new Map(told)).toEqual(new Map(happened));
      }
      if (fact.type === "agents.paused" && fact.cause === "spend") {
        const { spent_usd, ceiling_usd, uncounted_runs } = answer.decisions[0].facts;
        expect(spent_usd >= ceiling_usd || uncounted_runs > 20).toBe(true);
      }
    }
    expect(messages.length).toBeGreaterThan(20);
  },
  240_000,
);
