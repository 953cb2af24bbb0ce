/** Links that bring somebody in: `https://…/#invite=…`, `https://…/#signin=…`, or the secret alone. */
import { parseLinkSecret } from "../shared/token.ts";
import { usage } from "./failures.ts";

export interface JoinLink {
  kind: "invite" | "signin";
  /** The server that the link is of. */
  url: string;
  secret: string;
}

/** Reads a link; `defaultUrl` is asked only for a bare secret, which names no server. */
export function readLink(text: string, defaultUrl: () => string): JoinLink {
  const trimmed = text.trim();
  if (parseLinkSecret(trimmed)) return { kind: "invite", url: defaultUrl(), secret: trimmed };
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  const match = /^#(invite|signin)=(.+)$/.exec(url?.hash ?? "");
  if (!url || !/^https?:$/.test(url.protocol) || !match?.[2] || !parseLinkSecret(match[2]))
    throw usage(
      "That is no invite and no sign-in link.",
      "It looks like https://rooms.example.com/#invite=…; put it in quotes, because # is special to some shells.",
    );
  return { kind: match[1] as JoinLink["kind"], url: url.origin, secret: match[2] };
}
