/** Reads the code host beside the board's work: nothing that is decided waits for it (WORK-5). */
import type { BoardLedger } from "../ledger.ts";
import { type Fetch, type Github, openGithub } from "./api.ts";
import { type Brought, storeRead } from "./store.ts";
import { dueReads, filesSha, TOKEN, type Wanted, type WantedRow, want } from "./wants.ts";

/** Reads at the same time. */
const AT_ONCE = 4;

export interface HostWork {
  /** One piece of work in one transaction. */
  work<T>(work: (ledger: BoardLedger) => T): T;
  api(): string;
  fetch: Fetch;
  now: () => number;
  /** Every value that logs are masked of. */
  secrets(): string[];
  fault: (error: unknown) => void;
}

export interface Host {
  /** Reads what is due, until nothing is. Asked again meanwhile it is the same reading. */
  run(): Promise<void>;
  /** Reads these now, for at most so long: what takes longer goes on by itself. */
  soon(wanted: readonly Wanted[], ms: number): Promise<void>;
  /** The host itself, with the tokens as they are now; undefined without one. */
  open(): Github | undefined;
}

export function openHost(need: HostWork): Host {
  let running: Promise<void> | undefined;

  const open = (): Github | undefined => {
    const tokens = need.work((ledger) => ledger.secret(TOKEN));
    if (tokens.length === 0) return undefined;
    return openGithub({ api: need.api(), tokens, fetch: need.fetch, now: need.now });
  };

  const readOne = async (github: Github, read: WantedRow): Promise<void> => {
    const brought = await bring(github, read, (pr) => need.work((ledger) => filesSha(ledger, pr)));
    need.work((ledger) => storeRead(ledger, read, brought, need.secrets()));
  };

  const readAll = async (): Promise<void> => {
    for (;;) {
      const due = need.work((ledger) => dueReads(ledger, AT_ONCE));
      if (due.length === 0) return;
      const github = open();
      if (!github) return need.work((ledger) => void ledger.db.run("DELETE FROM host_reads"));
      await Promise.all(due.map((read) => readOne(github, read)));
    }
  };

  const run = (): Promise<void> => {
    running ??= readAll()
      .catch(need.fault)
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  return {
    run,
    open,
    async soon(wanted, ms) {
      if (wanted.length === 0) return;
      need.work((ledger) => {
        for (const one of wanted) want(ledger, one);
      });
      const enough = new AbortController();
      const wait = scheduler.wait(ms, { signal: enough.signal }).catch(() => {});
      await Promise.race([run(), wait]);
      enough.abort();
    },
  };
}

/** Asks the host for one thing. What was read of a head is not read again. */
async function bring(
  github: Github,
  { kind, repo, what }: WantedRow,
  shaOfFiles: (pr: string) => string | undefined,
): Promise<Brought> {
  if (kind === "base") return { kind, checks: await github.checks(repo, what) };
  if (kind === "job") {
    const job = await github.job(repo, what);
    if (!job.ok || !job.value.ended) return { kind, job };
    return { kind, job, log: await github.log(repo, what) };
  }
  const pull = await github.pull(repo, Number(what));
  if (!pull.ok || shaOfFiles(`${repo}#${what}`) === pull.value.headSha) return { kind, pull };
  return { kind, pull, files: await github.files(repo, Number(what)) };
}
