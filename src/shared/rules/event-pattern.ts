/**
 * Whether a pattern of event types means a type: `*` stands for any part, and the rest for itself (PIPE-1). Goes
 * over both once, whatever the pattern.
 */
export function meansType(pattern: string, type: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let from = 0;
  while (t < type.length) {
    if (pattern[p] === "*") {
      star = p++;
      from = t;
    } else if (pattern[p] === type[t]) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      // The last star takes one character more: earlier ones never need to give any back.
      p = star + 1;
      t = ++from;
    } else return false;
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
