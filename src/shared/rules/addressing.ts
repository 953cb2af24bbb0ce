/** A member of the space; `addressable` is false for one that is withdrawn, removed or paused in the office. */
export interface Party {
  id: string;
  kind: "person" | "agent" | "harness";
  addressable: boolean;
}

/** One message as it is appended. `guest` is the sender's standing; `webhook` when it came through a hook. */
export interface AddressInput {
  sender: { id: string; kind: "person" | "agent" | "harness"; guest: boolean; webhook?: boolean };
  members: readonly Party[];
  mentions: readonly string[];
  everyone: boolean;
  replyToAuthor?: { id: string } | undefined;
}

/** Whom a message is for, by which part of the rule, and the mentioned agents that a notice must answer for. */
export interface Addressees {
  addressed_to: string[];
  rule: "mentioned" | "everyone" | "person-mentioned" | "reply" | "only-agent" | "nobody" | "agent-mentioned";
  unreachable: string[];
}

/**
 * Which agents a message is for (ADDR-3, ADDR-4, ADDR-5); an agent is a member of kind agent or harness. Never the
 * sender, never a person, never who is no member or not addressable; each once, mentions in their order,
 * everyone in the members' order.
 *
 * From a person a mention, also of an agent that cannot be addressed, goes before all else, and a reply to an
 * agent that is a member but cannot be addressed is for nobody: words meant for one are not given to another.
 * The only agent of the space is the only one that can be addressed. A guest's `@everyone` is plain text.
 */
export function decideAddressees(input: AddressInput): Addressees {
  const { sender } = input;
  const others = new Map(
    input.members.filter(({ id }) => id !== sender.id).map((party) => [party.id, party]),
  );
  const agents = [...others.values()].filter(isAgent);
  const mentioned = [...new Set(input.mentions)].flatMap((id) => others.get(id) ?? []);
  const mentionedAgents = mentioned.filter(isAgent);
  const unreachable = ids(mentionedAgents.filter(({ addressable }) => !addressable));
  const decide = (rule: Addressees["rule"], to: readonly Party[]): Addressees => ({
    addressed_to: ids(to.filter(({ addressable }) => addressable)),
    rule,
    unreachable,
  });

  if (sender.kind !== "person" || sender.webhook) {
    return decide(mentionedAgents.length > 0 ? "agent-mentioned" : "nobody", mentionedAgents);
  }
  if (input.everyone && !sender.guest) return decide("everyone", agents);
  if (mentionedAgents.length > 0) return decide("mentioned", mentionedAgents);
  // A person who mentions themself has mentioned a person, too: the words are for people.
  if (mentioned.length > 0 || input.mentions.includes(sender.id)) return decide("person-mentioned", []);
  const answered = others.get(input.replyToAuthor?.id ?? "");
  if (answered && isAgent(answered)) return decide("reply", [answered]);
  const reachable = agents.filter(({ addressable }) => addressable);
  return reachable.length === 1 ? decide("only-agent", reachable) : decide("nobody", []);
}

function isAgent(party: Party): boolean {
  return party.kind !== "person";
}

function ids(parties: readonly Party[]): string[] {
  return parties.map(({ id }) => id);
}
