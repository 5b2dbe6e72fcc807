import { describe, expect, test } from "bun:test";
import { Calendar } from "../core/index.ts";
import { type Moment, parseMoment, periodOf } from "./period.ts";

const at = (text: string): number => new Date(text).getTime();
const utc = new Calendar("UTC");
const momentOf = (moment: Moment): number => ("at" in moment ? moment.at : utc.startOfDay(moment.day));

describe("a time", () => {
  test.each<[string, string]>([
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["2026-11-21T08:30", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21T08:30:15", "2026-11-21T08:30:15.000Z"],
    ["2026-11-21T08:30Z", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21T08:30:15.123456Z", "2026-11-21T08:30:15.123Z"],
    ["2026-11-21T01:30:00+02:00", "2026-11-20T23:30:00.000Z"],
    ["2026-11-21T01:30+02:00", "2026-11-20T23:30:00.000Z"],
    ["2026-11-21T01:30:00 02:00", "2026-11-20T23:30:00.000Z"],
    ["2026-11-20T23:30:00-05:30", "2026-11-21T05:00:00.000Z"],
    ["1700000000", "2023-11-14T22:13:20.000Z"],
    ["0", "1970-01-01T00:00:00.000Z"],
  ])("is read from %s", (text, moment) => {
    const parsed = parseMoment(text);
    expect(parsed && momentOf(parsed)).toBe(at(moment));
  });

  test.each([
    "",
    " ",
    "now",
    "today",
    "2026",
    "2026-11",
    "20261121",
    "2026-1-1",
    "2026-02-29",
    "2026-11-31",
    "2026-13-01",
    "21.11.2026",
    "2026-11-21T",
    "2026-11-21T24:00:00Z",
    "2026-11-21 08:30",
    "2026-11-21T08:30:00+99:00",
    "Sat, 21 Nov 2026 08:30:00 GMT",
    "1700000000000",
    "1700000000.5",
    "-1",
    "+1700000000",
    "1e9",
    "0x6553f100",
    "NaN",
    "Infinity",
    "2026-11-21\n",
    "2026-11-21\0",
  ])("is not read from %j", (text) => {
    expect(parseMoment(text)).toBeUndefined();
  });
});

describe("a period", () => {
  const now = at("2026-11-21T08:30:15.123Z");

  test.each<[string, { from?: string; to?: string }, string, string]>([
    ["nothing", {}, "2026-10-23T00:00:00Z", "2026-11-22T00:00:00Z"],
    ["a beginning", { from: "2026-11-01T05:00:00Z" }, "2026-11-01T05:00:00Z", "2026-11-22T00:00:00Z"],
    ["an end within a day", { to: "2026-03-02T00:00:01Z" }, "2026-02-01T00:00:00Z", "2026-03-02T00:00:01Z"],
    ["an end at midnight", { to: "2026-03-03T00:00:00Z" }, "2026-02-01T00:00:00Z", "2026-03-03T00:00:00Z"],
    ["both", { from: "2020-01-01", to: "2030-01-01" }, "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"],
    ["no time at all", { from: "2026-01-01", to: "2026-01-01" }, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ])("with %s given", (_, { from, to }, begin, end) => {
    const named = {
      from: from === undefined ? undefined : { at: at(from) },
      to: to === undefined ? undefined : { at: at(to) },
    };
    expect(periodOf(named, now, utc)).toEqual({ from: at(begin), to: at(end) });
  });

  test("by dates has the days of the zone, also by default", () => {
    const berlin = new Calendar("Europe/Berlin");
    const [from, to] = [parseMoment("2026-10-25"), parseMoment("2026-10-26")];
    expect(periodOf({ from, to }, now, berlin)).toEqual({
      from: at("2026-10-24T22:00:00Z"),
      to: at("2026-10-25T23:00:00Z"),
    });
    expect(periodOf({}, at("2026-11-20T23:30:00Z"), berlin)).toEqual({
      from: at("2026-10-22T22:00:00Z"),
      to: at("2026-11-21T23:00:00Z"),
    });
  });

  test("cannot end before it begins", () => {
    const refusal = { code: "validation_failed", param: "from", message: "from: lies after to." };
    expect(() => periodOf({ from: { at: 2 }, to: { at: 1 } }, now, utc)).toThrow(expect.objectContaining(refusal));
    expect(() => periodOf({ from: { at: at("2026-11-23") } }, now, utc)).toThrow(expect.objectContaining(refusal));
  });
});
