/** Bearer tokens and link secrets: their text, and nothing that could check one (AUTH-1). */
import { ULID_PATTERN } from "./wire/ids.ts";

/** What a token's text says: which workspace, which row, and the secret that proves it. */
export interface TokenParts {
  workspaceId: string;
  /** The ULID in the middle: a token's, an invite's or a sign-in link's. */
  rowUlid: string;
  /** 43 characters of base64url: 256 random bits. */
  secret: string;
}

const BODY = `(${ULID_PATTERN})_(${ULID_PATTERN})_([A-Za-z0-9_-]{43})`;
const TOKEN = new RegExp(`^bp_${BODY}$`);
const LINK_SECRET = new RegExp(`^${BODY}$`);

/** Reads `bp_<workspace ULID>_<token ULID>_<43 characters>`; undefined when it is anything else. */
export function parseToken(text: string): TokenParts | undefined {
  return parts(TOKEN.exec(text));
}

/** Reads the secret of an invite or a sign-in link: a token without its `bp_`. */
export function parseLinkSecret(text: string): TokenParts | undefined {
  return parts(LINK_SECRET.exec(text));
}

export function formatToken(of: TokenParts): string {
  return `bp_${formatLinkSecret(of)}`;
}

export function formatLinkSecret({ workspaceId, rowUlid, secret }: TokenParts): string {
  return `${workspaceId.slice("ws_".length)}_${rowUlid}_${secret}`;
}

function parts(match: RegExpExecArray | null): TokenParts | undefined {
  if (!match?.[1] || !match[2] || !match[3]) return undefined;
  return { workspaceId: `ws_${match[1]}`, rowUlid: match[2], secret: match[3] };
}
