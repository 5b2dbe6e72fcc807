import { expect, test } from "bun:test";
import { withoutAddresses } from "./without-addresses.ts";

test("addresses of links make no difference to a text", () => {
  expect(withoutAddresses("A [link](https://a.test/?visit=1), an ![image](b.png) and (more).")).toBe(
    "A [link], an ![image] and (more).",
  );
});

test("a text of nothing but beginnings takes linear time", () => {
  const text = "](".repeat(2_000_000);
  expect(withoutAddresses(text)).toBe(text);
});
