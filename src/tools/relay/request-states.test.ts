import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { RequestStates } from "./request-states.ts";

const statesWith = (key: string | undefined): RequestStates =>
  new RequestStates({ key: { find: () => key, findOrMake: () => key }, randomBytes: (size) => randomBytes(size) });

const owner = ["user", "tools/call", "server", "tool"];

test("another node with the same key opens a state, for its owner alone", () => {
  const sealed = statesWith("the key").seal("round 1", owner);
  expect(sealed).not.toContain("round");
  expect(statesWith("the key").open(sealed, owner)).toBe("round 1");
  for (const [key, text, who] of [
    ["the key", sealed, ["other", ...owner.slice(1)]],
    ["another key", sealed, owner],
    ["the key", `${sealed}-changed`, owner],
    ["the key", `${sealed}=changed`, owner],
    ["the key", "round 1", owner],
    ["the key", "", owner],
  ] as const)
    expect(() => statesWith(key).open(text, who)).toThrow("requestState is not that");
});

test("without a key there are no states", () => {
  expect(() => statesWith(undefined).seal("round 1", owner)).toThrow("webhooks.encryption_key");
});
