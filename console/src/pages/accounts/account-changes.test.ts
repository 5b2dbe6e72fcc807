import { expect, test } from "bun:test";
import { changesOf, shownFields } from "./account-changes.ts";
import { payersFields } from "./rights.ts";
import type { NamedAccount } from "./types.ts";

const user: NamedAccount = {
  id: "usr_1",
  name: "ada",
  disabled: false,
  balance: 1,
  spend: 0,
  held: 0,
  models: ["openai/*"],
  tools: ["docs.*"],
  expires_at: null,
  prepaid: true,
  rpm: 60,
  tpm: null,
  concurrency: null,
  max_budget: 1e-9,
  period: null,
  created_at: "2026-11-01T00:00:00Z",
  role: "member",
  organisation: null,
};

const reading = (fields: Record<string, string>) => (name: string) => fields[name] ?? "";

test("the fields of an account are texts, without an exponent", () => {
  expect(shownFields("users", user)).toMatchObject({ max_budget: "0.000000001", rpm: "60", models: "openai/*" });
});

test("only members that differ are sent", () => {
  const shown = shownFields("users", user);
  expect(changesOf("users", reading(shown), user)).toEqual({});
  const changed = { ...shown, max_budget: "0.25", models: "", rpm: "", organisation: "acme" };
  const wanted = { max_budget: 0.25, models: null, rpm: null, organisation: "acme" };
  expect(changesOf("users", reading(changed), user)).toEqual(wanted);
});

test("of a form with some fields, the others stay", () => {
  const fields = { max_budget: "3", period: "", prepaid: "true", markup: "" };
  expect(changesOf("organisations", reading(fields), user, payersFields)).toEqual({ max_budget: 3 });
});

test("a new account has the members that are filled in", () => {
  const fields = { name: "web", members: "ada, grace", period: "daily", max_budget: "5" };
  const wanted = { name: "web", members: ["ada", "grace"], period: "daily", max_budget: 5 };
  expect(changesOf("projects", reading(fields))).toEqual(wanted);
});

test("a time is UTC, and an organisation's policy is sent as a whole", () => {
  const acme: NamedAccount = { ...user, token_policy: { max_tokens: 3, max_expires: 86_400 } };
  const shown = shownFields("organisations", acme);
  expect(shown).toMatchObject({ policy: "bounds", policy_tokens: "3", policy_expires: "1", policy_unit: "days" });
  expect(changesOf("organisations", reading(shown), acme)).toEqual({});
  const changed = {
    ...shown,
    expires_at: "2026-12-31T23:59",
    policy_expires: "12",
    policy_unit: "hours",
    tags: "team, feature",
    markup: "1.2",
  };
  expect(changesOf("organisations", reading(changed), acme)).toEqual({
    expires_at: "2026-12-31T23:59:00Z",
    markup: 1.2,
    tags: ["team", "feature"],
    token_policy: { max_tokens: 3, max_expires: 43_200 },
  });
  expect(changesOf("organisations", reading({ ...shown, policy: "" }), acme)).toEqual({ token_policy: null });
});

test.each([
  [5 * 3_600, "5", "hours"],
  [7 * 86_400, "7", "days"],
  [90, "90", "seconds"],
  [90 * 60, "90", "minutes"],
])("an organisation whose tokens live %d seconds is saved as it is, and with another name", (seconds, count, unit) => {
  const acme: NamedAccount = { ...user, token_policy: { max_expires: seconds } };
  const shown = shownFields("organisations", acme);
  expect(shown).toMatchObject({ policy_expires: count, policy_unit: unit });
  expect(shown["policy_expires"]).toMatch(/^[1-9]\d{0,8}$/);
  expect(changesOf("organisations", reading({ ...shown, name: "other" }), acme)).toEqual({ name: "other" });
  const limited = { ...shown, policy_tokens: "2" };
  expect(changesOf("organisations", reading(limited), acme)).toEqual({
    token_policy: { max_tokens: 2, max_expires: seconds },
  });
});

test("a token has values of tags, also with commas and equals signs", () => {
  const metadata = { team: "search, ranking", note: "a=b" };
  expect(changesOf("tokens", reading({ name: "ci", metadata: "team=search, ranking\nnote=a=b" }))).toEqual({
    name: "ci",
    metadata,
  });
  const token = { ...user, metadata };
  const shown = shownFields("tokens", token);
  expect(shown["metadata"]).toBe("team=search, ranking\nnote=a=b");
  expect(changesOf("tokens", reading({ ...shown, name: "cd" }), token)).toEqual({ name: "cd" });
});
