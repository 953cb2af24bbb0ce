/**
 * Signed URLs of attachments (ATT-4). HMAC-SHA-256 over workspace, attachment, expiry and token id, so that
 * a URL works for one bearer and for ten minutes. node:crypto, because WebCrypto's would have to be awaited
 * between a commit and its deliveries.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { toBase64Url } from "./bytes.ts";

/** The key that signs, and an older one that still verifies while it is rotated (ATT-8). */
export interface SigningKeys {
  current: string;
  previous?: string | undefined;
}

export interface UrlClaims {
  workspaceId: string;
  attachmentId: string;
  /** Unix seconds. */
  expires: number;
  tokenId: string;
}

export interface SignedUrl {
  url: string;
  url_expires_at: string;
}

function signature(key: string, { workspaceId, attachmentId, expires, tokenId }: UrlClaims): Uint8Array {
  return createHmac("sha256", key).update(`${workspaceId}\n${attachmentId}\n${expires}\n${tokenId}`).digest();
}

export function signUrl(keys: SigningKeys, origin: string, claims: UrlClaims): SignedUrl {
  const sig = toBase64Url(signature(keys.current, claims));
  return {
    url: `${origin}/v1/attachments/${claims.attachmentId}?exp=${claims.expires}&sig=${sig}`,
    url_expires_at: new Date(claims.expires * 1000).toISOString(),
  };
}

/** Whether a signature is one of ours for these claims; says nothing of the expiry. */
export function isSigned(keys: SigningKeys, claims: UrlClaims, sig: string): boolean {
  const given = new TextEncoder().encode(sig);
  return [keys.current, keys.previous].some((key) => {
    if (!key) return false;
    // The texts are compared: decoding would let other spellings of the same bytes pass.
    const expected = new TextEncoder().encode(toBase64Url(signature(key, claims)));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
