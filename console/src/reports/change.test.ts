import { expect, test } from "bun:test";
import { percentText } from "./change.tsx";

const inAmerica = new Intl.NumberFormat("en-US", {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

test.each([0, 0.0001, -0.0001, 0.125, -0.5, 1, -1, 0.0999, 12.3456, -0.9999, 1234.5678, 98765432.1])(
  "%p is written as Americans write it",
  (share) => {
    expect(percentText(share)).toBe(inAmerica.format(share));
  },
);
