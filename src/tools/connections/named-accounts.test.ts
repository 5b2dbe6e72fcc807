import { expect, test } from "bun:test";
import { namedAccounts } from "./named-accounts.ts";

test("an account counts for all servers, or for the one that it names", () => {
  const none = namedAccounts("http://x/mcp/all?mode=search");
  expect(none("github")).toBeUndefined();
  const named = namedAccounts("http://x/mcp/all?account=work,github:ann@home.org");
  expect(named("github")).toBe("ann@home.org");
  expect(named("notion")).toBe("work");
});

test.each(["", "a b", "Git:x", "a:b:c", "a,", "x".repeat(65)])("refuses %p", (value) => {
  expect(() => namedAccounts(`http://x/mcp/all?account=${encodeURIComponent(value)}`)).toThrow("account");
});
