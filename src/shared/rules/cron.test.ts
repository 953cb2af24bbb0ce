import fc from "fast-check";
import { expect, it } from "vitest";
import { cronFault, dueBy, isZone, nextDue } from "./cron.ts";

const at = (iso: string) => Date.parse(iso);
const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

it("OFFER-9: a schedule is due by the clock of its zone, summer and winter", () => {
  expect(iso(nextDue("0 9 * * 1-5", "Europe/Vienna", at("2026-01-02T08:00:00Z")))).toBe(
    "2026-01-05T08:00:00.000Z",
  );
  expect(iso(nextDue("0 9 * * *", "Europe/Vienna", at("2026-07-01T00:00:00Z")))).toBe(
    "2026-07-01T07:00:00.000Z",
  );
  expect(iso(nextDue("30 23 * * *", "America/New_York", at("2026-01-01T00:00:00Z")))).toBe(
    "2026-01-01T04:30:00.000Z",
  );
});

it("OFFER-9: over the change of the clocks every day still has its run, and one only", () => {
  for (const cron of ["30 2 * * *", "0 3 * * *", "0 0 * * *"])
    for (const start of ["2026-03-27T12:00:00Z", "2026-10-23T12:00:00Z"]) {
      const days: string[] = [];
      for (let t = at(start), n = 0; n < 4; n += 1) {
        t = nextDue(cron, "Europe/Vienna", t) ?? 0;
        days.push(new Intl.DateTimeFormat("sv", { timeZone: "Europe/Vienna" }).format(t));
      }
      expect(new Set(days).size).toBe(4);
      expect(Date.parse(days[3]!) - Date.parse(days[0]!)).toBe(3 * 86_400_000);
    }
});

it("OFFER-9: what was missed runs once, for the first time missed, and then goes on from now", () => {
  const due = dueBy("0 * * * *", "UTC", at("2026-01-01T00:00:00Z"), at("2026-01-03T10:20:00Z"));
  expect(iso(due.due)).toBe("2026-01-01T00:00:00.000Z");
  expect(iso(due.next)).toBe("2026-01-03T11:00:00.000Z");
  const early = dueBy("0 * * * *", "UTC", at("2026-01-01T01:00:00Z"), at("2026-01-01T00:59:59Z"));
  expect(early).toEqual({ next: at("2026-01-01T01:00:00Z") });
});

const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant("*"),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 1, max: Math.min(20, max) }).map((n) => `*/${n}`),
  );

it("OFFER-9: the next time is always later, on the minute, and there is none between", () => {
  fc.assert(
    fc.property(
      fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)),
      fc.constantFrom("UTC", "Europe/Vienna", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe"),
      fc.integer({ min: at("2024-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z") }),
      (fields, zone, now) => {
        const cron = fields.join(" ");
        expect(cronFault(cron)).toBeUndefined();
        const next = nextDue(cron, zone, now);
        expect(next).toBeGreaterThan(now);
        expect(next! % 60_000).toBe(0);
        const between = Math.floor((now + next!) / 2);
        expect(nextDue(cron, zone, Math.max(now, between - 1))).toBe(next);
      },
    ),
  );
});

it("TEAM-4: what is no cron expression says what is wrong", () => {
  for (const good of ["* * * * *", "*/5 9-17 * * mon-fri", "0 0 29 2 *", "0 0 L * *", " 0 9 * * 1 "])
    expect(cronFault(good)).toBeUndefined();
  for (const bad of [
    "",
    "@daily",
    "* * * *",
    "* * * * * *",
    "60 * * * *",
    "a b c d e",
    "0 0 31 2 *",
    "0 0 31 4,6 *",
    "1-99999999 * * * *",
    "*/0 * * * *",
    "0 9 * * __proto__",
  ])
    expect(cronFault(bad)).toMatch(/\w/);
});

it("TEAM-4: any text is a cron expression or a fault, never a throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc
          .array(fc.constantFrom("*", "/", "-", ",", "1", "59", "L", "W", "#", "?", " ", "mon", "+", "0"), {
            maxLength: 20,
          })
          .map((c) => c.join("")),
      ),
      (text) => {
        expect(cronFault(text) !== undefined || (nextDue(text, "UTC", 0) ?? 0) > 0).toBe(true);
      },
    ),
  );
});

it("TEAM-4: a zone is the name of one", () => {
  for (const zone of ["UTC", "Europe/Vienna", "America/Argentina/Ushuaia"]) expect(isZone(zone)).toBe(true);
  for (const zone of ["", "Mars/Base", "+02:00", "-05", "__proto__", "x".repeat(10_000)])
    expect(isZone(zone)).toBe(false);
});
