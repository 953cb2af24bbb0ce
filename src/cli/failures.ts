/** What went wrong, as a person at a terminal and a script that calls us are told it. */
import { BullpenError } from "../sdk/errors.ts";
import { safeLine } from "./terminal.ts";

/** The exit codes, as every `--help` lists them. */
export const EXIT = { ok: 0, refused: 1, usage: 2, signedOut: 3, unreachable: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure on this side of the wire. `hint` says what to do about it. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  /** Its lines are places in a file, which editors jump to: nothing stands before them. */
  readonly places: boolean;

  constructor(exitCode: ExitCode, message: string, hint?: string, { places = false } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.places = places;
  }
}

export function usage(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, hint);
}

export interface Explained {
  exitCode: ExitCode;
  /** The first says what happened, the rest what to do. */
  lines: string[];
  /** What stderr shows of it. */
  text: string;
}

/** Turns anything thrown into an exit code and the lines for stderr. */
export function explain(thrown: unknown): Explained {
  const said = linesOf(thrown);
  const before = thrown instanceof CliError && thrown.places ? "" : "bullpen: ";
  return { ...said, text: `${before}${said.lines.join("\n")}\n` };
}

type Lines = Omit<Explained, "text">;

function linesOf(thrown: unknown): Lines {
  if (thrown instanceof CliError)
    return { exitCode: thrown.exitCode, lines: [thrown.message, ...(thrown.hint ? [thrown.hint] : [])] };
  if (thrown instanceof BullpenError) return explainRefusal(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { exitCode: EXIT.refused, lines: [safeLine(message)] };
}

function explainRefusal(error: BullpenError): Lines {
  const said = `${safeLine(error.message)} (${error.code})`;
  switch (error.code) {
    case "unauthenticated":
      return {
        exitCode: EXIT.signedOut,
        lines: [
          said,
          "Sign in again with an invite or a sign-in link (bullpen join LINK), or set BULLPEN_TOKEN.",
        ],
      };
    case "unavailable":
      return { exitCode: EXIT.unreachable, lines: [said, hintFor(reasonOf(error))] };
    default: {
      const details = error.details
        .filter(({ message }) => !error.message.includes(message))
        .map(
          ({ path, line, message }) =>
            `  ${safeLine(path)}${line === undefined ? "" : ` (line ${line})`}: ${safeLine(message)}`,
        );
      return { exitCode: EXIT.refused, lines: [said, ...details] };
    }
  }
}

function hintFor(reason: string | undefined): string {
  if (reason === "ECONNREFUSED") return "Is the server running? Start it with: npm start";
  if (reason === "ENOTFOUND" || reason === "EAI_AGAIN")
    return "The host name is not known: check --url or BULLPEN_URL.";
  return "Try again in a moment.";
}

/** The system's own code for why a request did not get out, wherever fetch has put it. */
export function reasonOf(error: BullpenError): string | undefined {
  const codes: string[] = [];
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > 4) return;
    const { code, cause, errors } = value as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === "string" && /^E[A-Z_]+$/.test(code)) codes.push(code);
    look(cause, depth + 1);
    // A name with several addresses fails once for each of them.
    if (Array.isArray(errors)) for (const one of errors) look(one, depth + 1);
  };
  look(error, 0);
  return codes[0];
}

/** Whether nothing of the request can have reached a server, so that there is no use in sending it again. */
export function neverSent(error: BullpenError): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"].includes(reasonOf(error) ?? "");
}
