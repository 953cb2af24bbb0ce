/** Dates and times that others write (RECALL-1, USE-3). */

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** The time that an ISO 8601 date or time says, ms; undefined for what is none, or a day that its month has not. */
export function instantOf(text: string): number | undefined {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(text.replace(" ", "T"));
  // A day too many would be read as one of the next month.
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  return Number.isNaN(at) || Number(day) > days ? undefined : at;
}
