import { describe, expect, test } from "bun:test";
import { Calendar, dayName, isTimezone } from "../index.ts";

const at = (text: string): number => Date.parse(text);
const iso = (moment: number): string => new Date(moment).toISOString();
const HOUR = 3_600_000;

const dayOf = (text: string): number => at(`${text}T00:00:00Z`) / (24 * HOUR);

describe("a day", () => {
  test.each<[zone: string, date: string, start: string, hours: number]>([
    ["UTC", "2026-03-29", "2026-03-29T00:00:00.000Z", 24],
    ["Europe/Berlin", "2026-03-28", "2026-03-27T23:00:00.000Z", 24],
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", 23],
    ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z", 25],
    ["America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z", 23],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", 25],
    ["Asia/Kolkata", "2026-11-21", "2026-11-20T18:30:00.000Z", 24],
    ["Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00.000Z", 23.5],
    ["Pacific/Kiritimati", "2026-11-21", "2026-11-20T10:00:00.000Z", 24],
    // Midnight does not exist, exists twice, and a whole date was left out.
    ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z", 23],
    ["America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z", 25],
    ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z", 0],
  ])("in %s on %s begins at %s and has %d hours", (zone, date, start, hours) => {
    const calendar = new Calendar(zone);
    const day = dayOf(date);
    expect(iso(calendar.startOfDay(day))).toBe(start);
    expect(calendar.startOfDay(day + 1) - calendar.startOfDay(day)).toBe(hours * HOUR);
  });

  test.each(["UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "America/St_Johns", "Asia/Kathmandu"])(
    "in %s contains its first moment and not the one before",
    (zone) => {
      const calendar = new Calendar(zone);
      for (let day = dayOf("2025-12-25"); day < dayOf("2027-01-05"); day += 1) {
        const start = calendar.startOfDay(day);
        expect([calendar.dayOf(start - 1), calendar.dayOf(start)]).toEqual([day - 1, day]);
      }
    },
  );

  test("has its date as its name", () => {
    expect(dayName(new Calendar("Pacific/Kiritimati").dayOf(at("2026-11-20T10:00:00Z")))).toBe("2026-11-21");
  });
});

test.each<[string, boolean]>([
  ["UTC", true],
  ["Europe/Berlin", true],
  ["America/Argentina/Buenos_Aires", true],
  ["Etc/GMT+5", true],
  ["", false],
  ["Europe/Atlantis", false],
  ["+02:00", false],
  ["UTC'; DROP TABLE entries; --", false],
])("%s: is a zone: %s", (zone, is) => {
  expect(isTimezone(zone)).toBe(is);
  if (!is) expect(() => new Calendar(zone)).toThrow("there is no time zone");
});
