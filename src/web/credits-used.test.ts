import { expect, test } from "bun:test";
import { creditsUsed } from "./credits-used.ts";

test("fractions are left out for the SDK that cannot read them", () => {
  expect(creditsUsed({}, 0.001)).toEqual({ creditsUsed: 0.001 });
  expect(creditsUsed({ origin: "js-sdk@4.42.0" }, 0.001)).toEqual({ creditsUsed: 0.001 });
  expect(creditsUsed({ origin: "python-sdk@4.54.0" }, 0.001)).toEqual({});
  expect(creditsUsed({ origin: "python-sdk@4.54.0" }, 2)).toEqual({ creditsUsed: 2 });
});
