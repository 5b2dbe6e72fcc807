/** Limits of a user and of an organisation narrow each of their tokens; on a storage in memory. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  type AccountsDependencies,
  type Caller,
  changeHolder,
  createToken,
  findHolderState,
  holderJson,
  type HolderChanges,
} from "../../accounts/index.ts";
import { Authenticator, openClientSecretStore, openTokenStore, type Principal } from "../../auth/index.ts";
import type { GatewayError, Role } from "../../core/index.ts";
import { mayUse, type UpstreamRoute } from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import { createAccounts } from "../../../test/kit/accounts.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { mayCall } from "../../tools/index.ts";

const ann = { kind: "user", name: "ann" } as const;
const acme = { kind: "organisation", name: "acme" } as const;

let storage: Storage;
let deps: AccountsDependencies;
let now: number;
let authenticator: Authenticator;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = 1_000_000;
  const environment = { clock: () => now, randomBytes: (size: number) => randomBytes(size) };
  deps = createAccounts(storage, environment, "cli:test");
  authenticator = new Authenticator({
    store: openTokenStore(storage),
    clientSecrets: openClientSecretStore(storage),
    clock: () => now,
    onChange: () => undefined,
  });
});
afterEach(() => storage.close());

async function principalOf(token: string): Promise<Principal> {
  now += 1_000;
  return authenticator.authenticate(new Headers({ authorization: `Bearer ${token}` }));
}

const refusalOf = async (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => "none",
    (error: GatewayError) => error.code,
  );

const routeOf = (prefix: string) => ({ prefix, aliases: [], internal: undefined }) as unknown as UpstreamRoute;

describe("the limits above a token", () => {
  test("are no part of the principal while nothing is limited", async () => {
    const { token } = await createToken(deps, { user: "ann", organisation: "acme", rpm: 5 });
    const principal = await principalOf(token);
    expect(Object.keys(principal)).not.toContainAnyValues(["ratesAbove", "modelsAbove", "toolsAbove"]);
    expect(principal.rates).toEqual({ requestsPerMinute: 5 });
  });

  test("of rates are those of each level", async () => {
    const { token } = await createToken(deps, { user: "ann", organisation: "acme" });
    await changeHolder(deps, acme, { tpm: 500, concurrency: 9 });
    expect(await principalOf(token)).toMatchObject({
      rates: undefined,
      ratesAbove: [{}, { tokensPerMinute: 500, concurrentCalls: 9 }],
    });
    await changeHolder(deps, ann, { rpm: 7 });
    await changeHolder(deps, acme, { tpm: null, concurrency: null });
    expect((await principalOf(token)).ratesAbove).toEqual([{ requestsPerMinute: 7 }, {}]);
    await changeHolder(deps, ann, { rpm: null });
    expect((await principalOf(token)).ratesAbove).toBeUndefined();
  });

  test("of models and tools narrow: each list has to match", async () => {
    const { token } = await createToken(deps, { user: "ann", organisation: "acme", models: ["openai/*", "xai/*"] });
    await changeHolder(deps, ann, { models: ["*/gpt-5*", "xai/grok-4"], tools: ["web_*"] });
    await changeHolder(deps, acme, { models: ["openai/*", "google/*"], tools: ["*", "!web_crawl"] });
    const principal = await principalOf(token);
    const may = (prefix: string, model: string): boolean => mayUse(principal, routeOf(prefix), model);
    expect(may("openai", "gpt-5-mini")).toBe(true);
    expect([may("openai", "o3"), may("xai", "grok-4"), may("google", "gpt-5")]).toEqual([false, false, false]);
    expect([mayCall(principal, "web_search"), mayCall(principal, "web_crawl"), mayCall(principal, "chat")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("of models hold for a token without a list of its own", async () => {
    const { token } = await createToken(deps, { user: "ann", organisation: "acme" });
    await changeHolder(deps, acme, { models: ["google/*"] });
    const principal = await principalOf(token);
    expect([principal.models, principal.modelsAbove]).toEqual([["google/*"], undefined]);
  });

  test("of time refuse every token, and the earliest is the principal's", async () => {
    const { token } = await createToken(deps, { user: "ann", organisation: "acme", expiresInMs: 90_000 });
    await changeHolder(deps, ann, { expiresAt: 1_040_000 });
    await changeHolder(deps, acme, { expiresAt: 1_060_000 });
    expect((await principalOf(token)).expiresAt).toBe(1_040_000);
    now = 1_040_000;
    expect(await refusalOf(principalOf(token))).toBe("token_expired");
    await changeHolder(deps, ann, { expiresAt: null });
    expect((await principalOf(token)).expiresAt).toBe(1_060_000);
    now = 1_060_000;
    expect(await refusalOf(principalOf(token))).toBe("token_expired");
  });

  test("of rates are not those of a service, whose account has none above it", async () => {
    await createToken(deps, { user: "ann" });
    const { token } = await createToken(deps, { user: "ann", service: true });
    await changeHolder(deps, ann, { rpm: 1, models: ["openai/*"] });
    const principal = await principalOf(token);
    expect([principal.ratesAbove, principal.models]).toEqual([undefined, ["openai/*"]]);
    await createToken(deps, { user: "robot", service: true });
    const robot = { kind: "user", name: "robot" } as const;
    expect(await refusalOf(changeHolder(deps, robot, { rpm: 1 }))).toBe("account_conflict");
    await changeHolder(deps, robot, { models: ["xai/*"] });
  });
});

describe("who may change them", () => {
  const changes: HolderChanges[] = [
    { models: ["*"] },
    { models: null },
    { tools: null },
    { rpm: null },
    { tpm: 1 },
    { concurrency: 1 },
    { expiresAt: null },
  ];
  const asRole = (role: Role): AccountsDependencies => {
    const caller: Caller = { actor: { name: "token:x" }, role, user: "ann", organisation: "acme" };
    return { ...deps, caller };
  };

  test.each<[Role, string, string]>([
    ["owner", "none", "none"],
    ["organisation_admin", "none", "role_required"],
    ["billing", "role_required", "role_required"],
    ["auditor", "role_required", "role_required"],
    ["operator", "role_required", "account_not_found"],
    ["member", "role_required", "account_not_found"],
  ])("%s: of a user %s, of the organisation %s", async (role, ofUser, ofOrganisation) => {
    await createToken(deps, { user: "ann", organisation: "acme" });
    for (const change of changes) {
      expect(await refusalOf(changeHolder(asRole(role), ann, change))).toBe(ofUser);
      expect(await refusalOf(changeHolder(asRole(role), acme, change))).toBe(ofOrganisation);
    }
  });

  test("they are shown as they were set, and are in the log", async () => {
    await createToken(deps, { user: "ann", organisation: "acme" });
    const set = { models: ["a/*", "b/*"], tools: ["!x"], rpm: 1, tpm: 2, concurrency: 3, expiresAt: 1_040_000 };
    await changeHolder(deps, ann, set);
    const { expiresAt: _, ...shown } = set;
    const expected = { ...shown, expires_at: "1970-01-01T00:17:20.000Z" };
    expect(holderJson(await findHolderState(deps, ann))).toMatchObject(expected);
    const [row] = await deps.log.list({ limit: 1 });
    expect(JSON.parse(row?.after ?? "")).toMatchObject(expected);
    expect(JSON.parse(row?.before ?? "")).toMatchObject({ models: null, rpm: null, expires_at: null });
  });
});
