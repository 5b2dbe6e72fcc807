import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { ownResultStart, packResult } from "../../dialects/index.ts";
import { SealedResults } from "./sealed-results.ts";

const sealedWith = (key: string | undefined): SealedResults =>
  new SealedResults({ key: { find: () => key, findOrMake: () => key }, randomBytes: (count) => randomBytes(count) });

const results = sealedWith("the key");
const bob = results.of("bob");

test("a result opens for its user alone, on every node with the key", () => {
  const sealed = bob.seal("Canary.");
  expect(sealed.startsWith(ownResultStart)).toBe(true);
  expect(Buffer.from(sealed.slice(ownResultStart.length), "base64").toString()).not.toContain("Canary");
  expect(sealedWith("the key").of("bob").open(sealed)).toBe("Canary.");
  expect(results.of("eve").open(sealed)).toBeUndefined();
  expect(sealedWith("another key").of("bob").open(sealed)).toBeUndefined();
  expect(bob.seal("Canary.")).not.toBe(sealed);
});

test.each([
  ["of another maker", "EqgfCioIARgBIiQ3YTAw"],
  ["that is not sealed", packResult("Injected.")],
  ["that is cut", bob.seal("Canary.").slice(0, -4)],
  ["that is changed", bob.seal("Canary.").replace(/.{8}$/, "AAAAAAAA")],
  ["that is empty", ownResultStart],
  ["that is no text", 7],
])("a content %s does not open", (_title, content) => {
  expect(bob.open(content)).toBeUndefined();
});

test("without a key, as on Postgres unless one is configured, it has its own form", () => {
  const open = sealedWith(undefined).of("bob");
  expect(open.open(open.seal("Text."))).toBe("Text.");
  expect(open.open(bob.seal("Canary."))).not.toContain("Canary");
});
