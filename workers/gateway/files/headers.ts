/** How a file is handed to a browser: what it is called, and whether it may be shown in place (ATT-6). */

/** Markup that runs scripts is never shown in place, whatever its type begins with. */
const NEVER_INLINE = /xml|html/;
const INLINE = /^(?:image|audio|video)\/|^application\/pdf$/;

export function isInline(mimeType: string): boolean {
  return INLINE.test(mimeType) && !NEVER_INLINE.test(mimeType);
}

/** Text says how it is encoded: it was found to be UTF-8. */
export function contentType(mimeType: string): string {
  return mimeType.startsWith("text/") ? `${mimeType}; charset=utf-8` : mimeType;
}

/** `content-disposition` with the name twice: for old readers in ASCII, for all others as RFC 8187 has it. */
export function disposition(mimeType: string, filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(filename).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isInline(mimeType) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${exact}`;
}
