/** Instants and spans, as this machine's clock and people say them. */

/** An instant as this machine's clock shows it. */
export function clockTime(iso: string): string {
  const at = new Date(iso);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The day of an instant, local, as `2026-11-30`. */
export function day(iso: string): string {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}

/** `2 days`, `59 minutes`: the largest unit alone says enough. */
export function span(ms: number): string {
  for (const [unit, length] of [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const) {
    const n = Math.floor(ms / length);
    if (n > 0) return `${n} ${unit}${n === 1 ? "" : "s"}`;
  }
  return "a moment";
}
