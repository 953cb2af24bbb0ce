import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AddressInput, decideAddressees, type Party } from "./addressing.ts";

const ann: Party = { id: "usr_ann", kind: "person", addressable: true };
const bo: Party = { id: "usr_bo", kind: "person", addressable: true };
const scout: Party = { id: "agt_scout", kind: "agent", addressable: true };
const ledger: Party = { id: "agt_ledger", kind: "agent", addressable: true };
const outpost: Party = { id: "hrn_outpost", kind: "harness", addressable: true };
const paused: Party = { id: "agt_paused", kind: "agent", addressable: false };

const fromPerson = { id: ann.id, kind: "person", guest: false } as const;
const fromGuest = { ...fromPerson, guest: true };
const fromScout = { id: scout.id, kind: "agent", guest: false } as const;

function decide(input: Partial<AddressInput>) {
  const members = [ann, bo, scout, ledger, outpost];
  return decideAddressees({ sender: fromPerson, members, mentions: [], everyone: false, ...input });
}

describe("ADDR-3 from a person", () => {
  test("ADDR-3 the agents mentioned, in order, persons beside them or not", () => {
    expect(decide({ mentions: [ledger.id, bo.id, scout.id] })).toEqual({
      addressed_to: [ledger.id, scout.id],
      rule: "mentioned",
      unreachable: [],
    });
    expect(decide({ mentions: [outpost.id], replyToAuthor: scout }).addressed_to).toEqual([outpost.id]);
  });

  test("ADDR-3 if only persons are mentioned, nobody, also in a reply or beside a single agent", () => {
    const nobody = { addressed_to: [], rule: "person-mentioned", unreachable: [] };
    expect(decide({ mentions: [bo.id], replyToAuthor: scout })).toEqual(nobody);
    expect(decide({ mentions: [bo.id], members: [ann, bo, scout] })).toEqual(nobody);
    expect(decide({ mentions: [ann.id], members: [ann, scout] })).toEqual(nobody);
  });

  test("ADDR-3 a reply is for the agent it answers", () => {
    expect(decide({ replyToAuthor: ledger })).toEqual({
      addressed_to: [ledger.id],
      rule: "reply",
      unreachable: [],
    });
    expect(decide({ replyToAuthor: bo }).rule).toBe("nobody");
    expect(decide({ replyToAuthor: bo, members: [ann, bo, scout] }).rule).toBe("only-agent");
  });

  test("ADDR-3 a reply to who is no member counts as no reply", () => {
    expect(decide({ replyToAuthor: { id: "agt_gone" } }).rule).toBe("nobody");
    expect(decide({ replyToAuthor: { id: "agt_gone" }, members: [ann, scout] })).toMatchObject({
      rule: "only-agent",
      addressed_to: [scout.id],
    });
  });

  test("ADDR-3 else the only agent of the space that can be addressed, else nobody", () => {
    expect(decide({ members: [ann, outpost] })).toMatchObject({
      addressed_to: [outpost.id],
      rule: "only-agent",
    });
    expect(decide({ members: [ann, scout, paused] }).addressed_to).toEqual([scout.id]);
    expect(decide({})).toEqual({ addressed_to: [], rule: "nobody", unreachable: [] });
    expect(decide({ members: [ann, bo] }).rule).toBe("nobody");
  });

  test("ADDR-3 @everyone is every agent, but not from a guest", () => {
    expect(decide({ everyone: true, mentions: [bo.id] })).toEqual({
      addressed_to: [scout.id, ledger.id, outpost.id],
      rule: "everyone",
      unreachable: [],
    });
    expect(decide({ everyone: true, sender: fromGuest }).rule).toBe("nobody");
    expect(decide({ everyone: true, sender: fromGuest, mentions: [scout.id] })).toMatchObject({
      addressed_to: [scout.id],
      rule: "mentioned",
    });
  });
});

describe("ADDR-4 from an agent", () => {
  test("ADDR-4 the other agents it mentions, nobody else", () => {
    expect(decide({ sender: fromScout, mentions: [scout.id, bo.id, ledger.id] })).toEqual({
      addressed_to: [ledger.id],
      rule: "agent-mentioned",
      unreachable: [],
    });
  });

  test("ADDR-4 a reply, @everyone or being two alone addresses nobody", () => {
    for (const input of [{ replyToAuthor: ledger }, { everyone: true }, { members: [scout, ledger] }]) {
      expect(decide({ sender: fromScout, ...input })).toEqual({
        addressed_to: [],
        rule: "nobody",
        unreachable: [],
      });
    }
  });

  test("ADDR-4 what comes through a webhook counts as an agent's", () => {
    const sender = { ...fromPerson, webhook: true };
    expect(decide({ sender, members: [ann, scout] }).rule).toBe("nobody");
    expect(decide({ sender, everyone: true }).addressed_to).toEqual([]);
    expect(decide({ sender, mentions: [scout.id] })).toMatchObject({
      addressed_to: [scout.id],
      rule: "agent-mentioned",
    });
  });
});

describe("ADDR-5 agents that cannot be addressed", () => {
  const members = [ann, bo, scout, paused];

  test("ADDR-5 a mention of one is for nobody else and is answered by a notice", () => {
    const expected = { addressed_to: [], unreachable: [paused.id] };
    expect(decide({ members, mentions: [paused.id, paused.id] })).toEqual({ ...expected, rule: "mentioned" });
    expect(decide({ members, mentions: [paused.id], sender: fromScout })).toEqual({
      ...expected,
      rule: "agent-mentioned",
    });
    expect(decide({ members, mentions: [paused.id, scout.id] })).toMatchObject({
      addressed_to: [scout.id],
      unreachable: [paused.id],
    });
  });

  test("ADDR-5 a reply to one, or @everyone, passes it over without a notice", () => {
    expect(decide({ members, replyToAuthor: paused })).toEqual({
      addressed_to: [],
      rule: "reply",
      unreachable: [],
    });
    expect(decide({ members, everyone: true })).toMatchObject({ addressed_to: [scout.id], unreachable: [] });
  });
});

describe("whatever is said", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const kind = fc.constantFrom("person" as const, "agent" as const, "harness" as const);
  const input: fc.Arbitrary<AddressInput> = fc.record({
    sender: fc.record({ id, kind, guest: fc.boolean(), webhook: fc.boolean() }),
    members: fc.uniqueArray(fc.record({ id, kind, addressable: fc.boolean() }), {
      selector: (party) => party.id,
    }),
    mentions: fc.array(id, { maxLength: 4 }),
    everyone: fc.boolean(),
    replyToAuthor: fc.option(fc.record({ id }), { nil: undefined }),
  });

  test("ADDR-3 ADDR-4 ADDR-5 only agents of the space that can be addressed, never itself, each once", () => {
    fc.assert(
      fc.property(input, (said) => {
        const { addressed_to, unreachable } = decideAddressees(said);
        expect(decideAddressees(structuredClone(said))).toEqual(decideAddressees(said));
        expect(new Set(addressed_to).size).toBe(addressed_to.length);
        for (const [list, addressable] of [
          [addressed_to, true],
          [unreachable, false],
        ] as const) {
          expect(list).not.toContain(said.sender.id);
          for (const each of list) {
            const party = said.members.find((member) => member.id === each);
            expect(party?.kind).not.toBe("person");
            expect(party?.addressable).toBe(addressable);
          }
        }
        for (const each of unreachable) expect(said.mentions).toContain(each);
      }),
    );
  });

  test("ADDR-4 from an agent or a webhook only who is mentioned, whatever else the message is", () => {
    fc.assert(
      fc.property(input, (said) => {
        fc.pre(said.sender.kind !== "person" || said.sender.webhook === true);
        const decided = decideAddressees(said);
        for (const each of decided.addressed_to) expect(said.mentions).toContain(each);
        expect(decideAddressees({ ...said, everyone: false, replyToAuthor: undefined })).toEqual(decided);
      }),
    );
  });

  test("ADDR-3 a person's mention decides alone: nothing else changes whom it is for", () => {
    fc.assert(
      fc.property(input, (said) => {
        const members = said.members.filter(({ id: member }) => member !== said.sender.id);
        fc.pre(members.some(({ id: member }) => said.mentions.includes(member)));
        const sender = { ...said.sender, kind: "person" as const, webhook: false };
        const plain = { ...said, sender, everyone: false };
        expect(decideAddressees({ ...plain, replyToAuthor: undefined })).toEqual(decideAddressees(plain));
        for (const each of decideAddressees(plain).addressed_to) expect(said.mentions).toContain(each);
      }),
    );
  });
});
