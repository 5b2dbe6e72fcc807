import { expect, test } from "bun:test";
import { changesOf, shownFields } from "./account-changes.ts";
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

test("a new account has the members that are filled in", () => {
  const fields = { name: "web", members: "ada, grace", period: "daily", max_budget: "5" };
  const wanted = { name: "web", members: ["ada", "grace"], period: "daily", max_budget: 5 };
  expect(changesOf("projects", reading(fields))).toEqual(wanted);
});

test("a time is UTC, and an organisation's policy is sent as a whole", () => {
  const acme: NamedAccount = { ...user, token_policy: { max_tokens: 3, max_expires: 86_400 } };
  const shown = shownFields("organisations", acme);
  expect(shown).toMatchObject({ policy: "bounds", policy_tokens: "3", policy_days: "1", policy_budget: "" });
  expect(changesOf("organisations", reading(shown), acme)).toEqual({});
  const changed = {
    ...shown,
    expires_at: "2026-12-31T23:59",
    policy_days: "0.5",
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

test("a token has values of tags", () => {
  expect(changesOf("tokens", reading({ name: "ci", metadata: "team=search, note=a=b" }))).toEqual({
    name: "ci",
    metadata: { team: "search", note: "a=b" },
  });
});
