import { beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { GatewayError } from "../core/index.ts";
import { Authenticator } from "./authenticator.ts";
import { type ClientSecretRecord, type ClientSecretStore, issueClientSecret } from "./client-secret.ts";
import { plainFound } from "../../test/kit/plain-token.ts";
import type { FoundToken, TokenRecord, TokenStore } from "./store.ts";
import { issueToken } from "./token.ts";

/** A store in memory that counts its lookups. */
class MemoryStore implements TokenStore {
  readonly records = new Map<string, FoundToken>();
  finds = 0;
  insert(token: TokenRecord): Promise<void> {
    this.records.set(token.id, { ...plainFound, ...token });
    return Promise.resolve();
  }
  find(id: string, secretHash: Uint8Array): Promise<FoundToken | undefined> {
    this.finds += 1;
    const record = this.records.get(id);
    const hashes = [record?.secretHash, record?.previousHash];
    return Promise.resolve(hashes.some((hash) => Bun.deepEquals(hash, secretHash)) ? record : undefined);
  }
  findById(id: string): Promise<FoundToken | undefined> {
    return Promise.resolve(this.records.get(id));
  }
  findAll(ids: readonly string[]): Promise<FoundToken[]> {
    return Promise.resolve([...this.records.values()].filter(({ id }) => ids.includes(id)));
  }
  list(): Promise<FoundToken[]> {
    return Promise.resolve([...this.records.values()]);
  }
  revoke(id: string, at: number): Promise<boolean> {
    const record = this.records.get(id);
    if (record !== undefined) this.records.set(id, { ...record, revokedAt: at });
    return Promise.resolve(record !== undefined);
  }
}

/** Client secrets in memory. */
class MemorySecrets implements ClientSecretStore {
  readonly records = new Map<string, ClientSecretRecord>();
  insert(secret: ClientSecretRecord): Promise<void> {
    this.records.set(secret.id, secret);
    return Promise.resolve();
  }
  find(id: string, secretHash: Uint8Array): Promise<ClientSecretRecord | undefined> {
    const record = this.records.get(id);
    return Promise.resolve(record && Bun.deepEquals(record.secretHash, secretHash) ? record : undefined);
  }
  deleteExpired(): Promise<void> {
    return Promise.resolve();
  }
}

let store: MemoryStore;
let clientSecrets: MemorySecrets;
let now: number;
let forget: () => void;
let authenticator: Authenticator;

beforeEach(() => {
  store = new MemoryStore();
  clientSecrets = new MemorySecrets();
  now = 1_000;
  authenticator = new Authenticator({
    store,
    clientSecrets,
    clock: () => now,
    onChange: (callback) => {
      forget = callback;
    },
  });
});

async function issue(more: Partial<FoundToken> = {}): Promise<{ token: string; id: string }> {
  const { id, token, secretHash } = issueToken((size) => randomBytes(size));
  store.records.set(id, { ...plainFound, id, secretHash, accountId: `token:${id}`, ...more });
  return { token, id };
}

const present = async (headers: Record<string, string>) => authenticator.authenticate(new Headers(headers));
const bearer = (token: string) => present({ authorization: `Bearer ${token}` });

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    return (error as GatewayError).code;
  }
  return "accepted";
}

describe("a token is read", () => {
  test.each<[string, (token: string) => Record<string, string>, boolean]>([
    ["Bearer", (token) => ({ authorization: `Bearer ${token}` }), true],
    ["bearer", (token) => ({ authorization: `bearer ${token}` }), true],
    ["Bearer with spaces", (token) => ({ authorization: `Bearer   ${token}  ` }), true],
    ["x-api-key", (token) => ({ "x-api-key": token }), true],
    ["x-api-key with spaces", (token) => ({ "x-api-key": ` ${token} ` }), true],
    ["x-api-key beside another bearer", (token) => ({ "x-api-key": token, authorization: "Bearer sk-other" }), true],
    ["an empty x-api-key beside a bearer", (token) => ({ "x-api-key": "", authorization: `Bearer ${token}` }), true],
    ["the token alone", (token) => ({ authorization: token }), false],
    ["Basic", (token) => ({ authorization: `Basic ${token}` }), false],
    ["two tokens", (token) => ({ authorization: `Bearer ${token} ${token}` }), false],
    ["no space", (token) => ({ authorization: `Bearer${token}` }), false],
  ])("from %s or refused", async (_, headers, accepted) => {
    const { token } = await issue();
    expect(await refusalOf(present(headers(token)))).toBe(accepted ? "accepted" : "missing_token");
  });

  test("whichever header has it, beside keys of providers in the others", async () => {
    const { token } = await issue();
    const other = "sk-ant-other";
    for (const headers of [
      { "x-api-key": other, authorization: `Bearer ${token}` },
      { "x-api-key": token, authorization: `Bearer ${other}` },
      { "api-key": token, authorization: `Bearer ${other}` },
      { "api-key": token, "x-api-key": other },
      { "x-api-key": token, authorization: "Bearer tg_000000000000_x" },
    ]) {
      expect(await refusalOf(present(headers))).toBe("accepted");
    }
  });

  test("and a refusal names the header that was read", async () => {
    const refusalFor = async (headers: Record<string, string>): Promise<unknown> => {
      try {
        return await present(headers);
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };
    const foreign = (place: string) => `What ${place} contains is not valid: tokens of this gateway begin with tg_.`;
    expect(await refusalFor({ "x-api-key": "sk-1", authorization: "Bearer sk-2" })).toBe(foreign("x-api-key"));
    expect(await refusalFor({ authorization: "Bearer sk-2" })).toBe(foreign("authorization"));
    expect(await refusalFor({ "api-key": "sk-3" })).toBe(foreign("api-key"));
    const unknown = `tg_000000000000_${"x".repeat(43)}`;
    expect(await refusalFor({ "x-api-key": "sk-1", authorization: `Bearer ${unknown}` })).toBe(
      "The token in authorization is not valid.",
    );
  });
});

describe("a principal", () => {
  test("identifies the caller and lists its permissions", async () => {
    const { token, id } = await issue({
      service: true,
      userRole: "owner",
      organisation: "acme",
      models: ["openai/*"],
      user: "bob",
      accountId: "token:x",
    });
    expect(await bearer(token)).toEqual({
      tokenId: id,
      user: "bob",
      userName: "alice",
      accountId: "token:x",
      service: true,
      role: "owner",
      organisation: "acme",
      models: ["openai/*"],
      rates: undefined,
      expiresAt: undefined,
    });
  });

  test.each<[Partial<FoundToken>, object]>([
    [{ rpm: 60 }, { requestsPerMinute: 60 }],
    [{ tpm: 5_000 }, { tokensPerMinute: 5_000 }],
    [{ concurrency: 4 }, { concurrentCalls: 4 }],
    [
      { rpm: 60, tpm: 5_000, concurrency: 4 },
      { requestsPerMinute: 60, tokensPerMinute: 5_000, concurrentCalls: 4 },
    ],
  ])("of a token with %j has only those limits", async (limits, rates) => {
    const { token } = await issue({ ...limits, expiresAt: 2_000 });
    const principal = await bearer(token);
    expect([principal.rates, principal.expiresAt]).toEqual([rates, 2_000]);
  });

  test("is the same object in every call, so that a call doesn't allocate one", async () => {
    const { token } = await issue({ rpm: 60 });
    expect(await bearer(token)).toBe(await bearer(token));
  });

  test("never carries the secret's hash", async () => {
    const { token } = await issue();
    expect(Object.values(await bearer(token)).some((value) => (value as unknown) instanceof Uint8Array)).toBe(false);
  });
});

describe("a token is refused", () => {
  test("with its reason, but only if the secret is right", async () => {
    const revoked = await issue({ revokedAt: 5 });
    const expired = await issue({ expiresAt: 1_000 });
    const both = await issue({ revokedAt: 5, expiresAt: 10 });
    expect(await refusalOf(bearer(revoked.token))).toBe("token_revoked");
    expect(await refusalOf(bearer(expired.token))).toBe("token_expired");
    expect(await refusalOf(bearer(both.token))).toBe("token_revoked");
    for (const { token } of [revoked, expired, both]) {
      const forged = `${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`;
      expect(await refusalOf(bearer(forged))).toBe("invalid_token");
    }
  });

  test("from the millisecond of its expiry on", async () => {
    const { token } = await issue({ expiresAt: 2_000 });
    now = 1_999;
    expect(await refusalOf(bearer(token))).toBe("accepted");
    now = 2_000;
    expect(await refusalOf(bearer(token))).toBe("token_expired");
  });

  test("with the same message, whether or not its id is known", async () => {
    const { token } = await issue();
    const messages = await Promise.all(
      [`${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`, token.replace(/^tg_\w{12}/, "tg_000000000000")].map(
        (presented) => bearer(presented).catch((error: Error) => error.message),
      ),
    );
    expect(new Set(messages)).toEqual(new Set(["The token in authorization is not valid."]));
  });
});

test("a wrong secret of a cached token takes a look-up, like an unknown id", async () => {
  const { token } = await issue();
  await bearer(token);
  const lookUps = async (presented: string): Promise<number> => {
    const before = store.finds;
    expect(await refusalOf(bearer(presented))).toBe("invalid_token");
    return store.finds - before;
  };
  expect(await lookUps(`${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`)).toBe(1);
  expect(await lookUps(token.replace(/^tg_\w{12}/, "tg_000000000000"))).toBe(1);
});

describe("the cache of tokens", () => {
  test("saves lookups", async () => {
    const { token } = await issue();
    await bearer(token);
    await bearer(token);
    expect(store.finds).toBe(1);
  });

  test("does not skip the check of the secret", async () => {
    const { token } = await issue();
    await bearer(token);
    expect(await refusalOf(bearer(`${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`))).toBe("invalid_token");
  });

  test("is cleared by a change, so that a revocation applies immediately", async () => {
    const { token, id } = await issue();
    expect(await refusalOf(bearer(token))).toBe("accepted");
    await store.revoke(id, 7);
    forget();
    expect(await refusalOf(bearer(token))).toBe("token_revoked");
  });

  test("does not store a record that was read before a change and arrives after it", async () => {
    const { token, id } = await issue();
    const gate = Promise.withResolvers<void>();
    const find = store.find.bind(store);
    store.find = async (...asked) => {
      const record = await find(...asked);
      await gate.promise;
      return record;
    };
    const early = bearer(token);
    await store.revoke(id, 7);
    forget();
    gate.resolve();
    expect(await refusalOf(early)).toBe("accepted");
    expect(await refusalOf(bearer(token))).toBe("token_revoked");
  });

  test("does not store tokens that were never issued", async () => {
    for (let guess = 0; guess < 5; guess += 1) await refusalOf(bearer(`tg_${"0".repeat(12)}_${"A".repeat(43)}`));
    // Each guess is looked up again, because none of them is cached.
    expect(store.finds).toBe(5);
    await refusalOf(bearer("nonsense"));
    expect(store.finds).toBe(5);
  });
});

describe("a handshake", () => {
  const grant = { type: "realtime", model: "openai/gpt-realtime", session: { instructions: "Be brief." } } as const;

  async function issueFor(tokenId: string, more: { signedUntil?: number } = {}): Promise<string> {
    const { id, value, secretHash } = issueClientSecret((size) => randomBytes(size));
    const granted = { ...grant, ...more };
    await clientSecrets.insert({ id, secretHash, tokenId, grant: granted, createdAt: 1_000, expiresAt: 2_000 });
    return value;
  }

  const caller = (headers: Record<string, string>) =>
    authenticator.authenticateSocket(new Request("http://gateway.test/", { headers }), "req_1");
  const refusalTo = (headers: Record<string, string>) =>
    caller(headers).then(
      () => "accepted",
      (error: GatewayError) => error.code,
    );

  test.each<[string, (token: string) => Record<string, string>, string | undefined]>([
    ["in a header", (token) => ({ authorization: `Bearer ${token}` }), undefined],
    ["in x-api-key", (token) => ({ "x-api-key": token }), undefined],
    [
      "in a header beside a subprotocol",
      (token) => ({ authorization: `Bearer ${token}`, "sec-websocket-protocol": "realtime" }),
      "realtime",
    ],
    [
      "in OpenAI's subprotocols",
      (token) => ({ "sec-websocket-protocol": `realtime, openai-insecure-api-key.${token}` }),
      "realtime",
    ],
    [
      "in OpenAI's subprotocol alone, which is not repeated",
      (token) => ({ "sec-websocket-protocol": `openai-insecure-api-key.${token}` }),
      undefined,
    ],
  ])("may present a token %s", async (_, headersOf, protocol) => {
    const { token } = await issue();
    expect(await caller(headersOf(token))).toMatchObject({ principal: { user: "alice" }, grant: undefined, protocol });
  });

  test("may present xAI's subprotocol, which is repeated", async () => {
    const { token } = await issue();
    const protocol = `xai-client-secret.${token}`;
    expect(await caller({ "sec-websocket-protocol": protocol })).toMatchObject({ protocol });
  });

  test("may present a client secret, which has the rights of its token", async () => {
    const { id, token } = await issue();
    const secret = await issueFor(id);
    const { principal, grant: found } = await caller({ authorization: `Bearer ${secret}` });
    expect([principal.tokenId, found]).toEqual([id, grant]);
    // Data derived from a principal is cached by its identity.
    expect(await authenticator.authenticate(new Headers({ authorization: `Bearer ${token}` }))).toBe(
      (await caller({ authorization: `Bearer ${secret}` })).principal,
    );
  });

  test("is refused with an expired, forged or unknown secret, or without any", async () => {
    const { id } = await issue();
    const secret = await issueFor(id);
    expect(await refusalTo({ authorization: `Bearer ${secret.slice(0, -2)}AA` })).toBe("invalid_token");
    expect(await refusalTo({ authorization: "Bearer ek_x" })).toBe("invalid_token");
    expect(await refusalTo({})).toBe("missing_token");
    expect(await refusalTo({ "sec-websocket-protocol": "realtime" })).toBe("missing_token");
    now = 2_000;
    expect(await refusalTo({ authorization: `Bearer ${secret}` })).toBe("token_expired");
  });

  test("is refused once the secret's token is revoked; so is the next check of an open session", async () => {
    const { id } = await issue();
    const secret = await issueFor(id);
    const open = await caller({ authorization: `Bearer ${secret}` });
    store.records.set(id, { ...(store.records.get(id) as FoundToken), models: ["openai/*"] });
    expect(await open.recheck()).toMatchObject({ tokenId: id, models: ["openai/*"] });
    // The session outlives its secret, but not its token.
    now = 2_000;
    await open.recheck();
    await store.revoke(id, now);
    expect(await open.recheck().catch((error: GatewayError) => error.code)).toBe("token_revoked");
    now = 1_500;
    expect(await refusalTo({ authorization: `Bearer ${secret}` })).toBe("token_revoked");
  });

  test("with the secret of a caller with a signed token opens a session that ends with that", async () => {
    const { id } = await issue();
    const secret = await issueFor(id, { signedUntil: 1_800 });
    const open = await caller({ authorization: `Bearer ${secret}` });
    expect(open.principal).toMatchObject({ tokenId: id, signedUntil: 1_800 });
    now = 1_800;
    expect(await open.recheck().catch((error: GatewayError) => error.code)).toBe("token_expired");
    expect(await refusalTo({ authorization: `Bearer ${secret}` })).toBe("token_expired");
  });

  test("a client secret opens no other route", async () => {
    const { id } = await issue();
    const secret = await issueFor(id);
    expect(() => authenticator.authenticate(new Headers({ authorization: `Bearer ${secret}` }))).toThrow("not valid");
  });
});
