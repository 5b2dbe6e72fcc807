import { expect, test } from "bun:test";
import { type Listing, Listings } from "./listings.ts";

test("a listing is made again only if one of its sources has changed", async () => {
  const listings = new Listings();
  let made = 0;
  const make = (): Promise<Listing> => Promise.resolve({ tools: String((made += 1)), unavailable: [] });
  const [one, other] = [new Map(), new Map()];
  expect((await listings.of("a", [one, undefined], make)).tools).toBe("1");
  expect((await listings.of("a", [one, undefined], make)).tools).toBe("1");
  expect((await listings.of("b", [one, undefined], make)).tools).toBe("2");
  expect((await listings.of("a", [one, other], make)).tools).toBe("3");
  expect((await listings.of("a", [other], make)).tools).toBe("4");
  expect((await listings.of("b", [one, undefined], make)).tools).toBe("2");
});

test("the ones that nobody has asked for the longest are forgotten beyond the bound", async () => {
  const listings = new Listings();
  let made = 0;
  const tools = "x".repeat(3 * 1024 * 1024);
  const make = (): Promise<Listing> => Promise.resolve({ tools, unavailable: [String((made += 1))] });
  for (const key of ["a", "b", "a", "c"]) await listings.of(key, [], make);
  expect((await listings.of("a", [], make)).unavailable).toEqual(["1"]);
  expect((await listings.of("b", [], make)).unavailable).toEqual(["4"]);
});
