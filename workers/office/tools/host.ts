/**
 * The tools of an agent that its office offers (CTX-8): each does what the agent's own token or socket would do, by
 * the same write path and policy. A call that is carried out twice makes one thing: it is known by its id (CTX-9).
 */
import {
  type Call,
  checkedInput,
  type OfficeTool,
  officeTools,
  type ToolHost,
} from "../../../src/context/tools.ts";
import { Refused } from "../../kit/result.ts";
import { AgentRefused } from "../handler.ts";
import { activeItems, item } from "../store/items.ts";
import { approve, withdraw } from "./approve.ts";
import type { Called, Calling } from "./calling.ts";
import { files, keep } from "./files.ts";
import { keyOf } from "./key.ts";
import type { Needs } from "./say.ts";
import { ask, post, search } from "./talk.ts";
import { handBack, takeWork, work } from "./work.ts";

const TOOLS: { [T in OfficeTool]: (calling: Calling<T>) => Promise<Called> } = {
  post,
  ask,
  approve,
  search,
  files,
  work,
  take_work: takeWork,
  hand_back: handBack,
};

/** The tools of one office. What they throw is that another object was out of reach. */
export function officeHost(need: Needs): ToolHost {
  return {
    tools: officeTools,
    async call(call) {
      const checked = checkedInput(officeTools, call);
      if (!checked.ok) return checked;
      const tool: (calling: Calling) => Promise<Called> = TOOLS[call.tool as OfficeTool];
      try {
        return await tool(callingOf(need, call, checked.input as Calling["input"]));
      } catch (error) {
        if (error instanceof AgentRefused || error instanceof Refused)
          return { ok: false, output: error.message };
        throw error;
      }
    },
    withdraw: (call) => withdraw(need, nameOf(need, call)),
    keep: (text, filename) => keep(need, filename, text),
  };
}

const ITEM = /\/items\/(itm_[0-9A-Z]{26})$/;

function callingOf(need: Needs, call: Call, input: Calling["input"]): Calling {
  const { db } = need.look();
  const named = ITEM.exec(call.path)?.[1];
  const active = activeItems(db);
  const own = active.findLast(({ kind }) => kind === "chat") ?? active.at(-1);
  return {
    need,
    id: call.id,
    key: nameOf(need, call),
    item: named === undefined ? own : item(db, named),
    input,
  };
}

function nameOf(need: Needs, { path, id }: Pick<Call, "path" | "id">): string {
  return keyOf(need.look().handle, ITEM.exec(path)?.[1] ?? "", id);
}
