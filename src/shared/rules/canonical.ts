/** Canonical JSON: keys sorted, as RFC 8785 orders them, so that equal bodies have equal bytes. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  let inside = "";
  if (Array.isArray(value)) {
    // What JSON cannot hold is null in a list.
    for (let i = 0; i < value.length; i++) inside += `${i === 0 ? "" : ","}${canonicalJson(value[i])}`;
    return `[${inside}]`;
  }
  const entries = value as Record<string, unknown>;
  // Without a comparison of its own it sorts by UTF-16 units, as the RFC does.
  for (const key of Object.keys(entries).toSorted()) {
    const held = entries[key];
    if (held !== undefined)
      inside += `${inside === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(held)}`;
  }
  return `{${inside}}`;
}
