/** What each kind of letter to an office does: one function a kind, run inside the transaction that takes it in. */
import type { Desk } from "./desk.ts";
import type { Address, OfficeLetters } from "./letters.ts";
import { changePerson } from "./store/person.ts";

export type Takers = {
  [K in keyof OfficeLetters]?: (desk: Desk, body: OfficeLetters[K], from: Address) => void;
};
export const TAKERS: Takers = {
  team: (desk, { version, team }) => {
    if (version < desk.version) return;
    changePerson(desk.db, { team_version: version, team: JSON.stringify(team), removed_at: null });
  },
};
