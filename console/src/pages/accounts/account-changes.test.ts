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
