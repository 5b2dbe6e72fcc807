import { beforeEach, describe, expect, test } from "bun:test";
import { plainFound } from "../../test/kit/plain-token.ts";
import type { GatewayError } from "../core/index.ts";
import { Authenticator } from "./authenticator.ts";
import type { ImportedKey, ImportedKeyStore } from "./imported-keys.ts";
import type { FoundToken, TokenStore } from "./store.ts";

const hashOf = (text: string): Uint8Array => Bun.SHA256.hash(text) as Uint8Array;
const nameOf = (hash: Uint8Array): string => Buffer.from(hash).toString("hex");

/** Imported keys in memory, with the counts of look-ups. */
class MemoryKeys implements ImportedKeyStore {
  readonly records = new Map<string, ImportedKey>();
  finds = 0;
  asked = 0;
  fault: Error | undefined;
  async find(hash: Uint8Array): Promise<ImportedKey | undefined> {
    this.finds += 1;
    if (this.fault !== undefined) throw this.fault;
    return this.records.get(nameOf(hash));
  }
  async hasAny(): Promise<boolean> {
    this.asked += 1;
    if (this.fault !== undefined) throw this.fault;
    return this.records.size > 0;
  }
}

const KEY = "sk-litellm-1234";
const unused = async (): Promise<never> => Promise.reject(new Error("not used"));
const secretHash = Uint8Array.of(1, 2, 3);

let tokens: Map<string, FoundToken>;
let keys: MemoryKeys;
let now: number;
let forget: () => void;
let authenticator: Authenticator;

beforeEach(() => {
  tokens = new Map([["a", { ...plainFound, id: "a", secretHash }]]);
  keys = new MemoryKeys();
  keys.records.set(nameOf(hashOf(KEY)), { tokenId: "a", secretHash, validUntil: undefined });
  now = 1_000;
  const store: TokenStore = {
    insert: unused,
    find: async () => undefined,
    findById: async (id) => tokens.get(id),
    findAll: unused,
    list: unused,
    revoke: unused,
  };
  authenticator = new Authenticator({
    store,
    importedKeys: keys,
    clientSecrets: { insert: unused, find: unused, deleteExpired: unused },
    clock: () => now,
    onChange: (callback) => {
      forget = callback;
    },
  });
});

const present = async (headers: Record<string, string>) => authenticator.authenticate(new Headers(headers));
const withKey = (text: string) => present({ authorization: `Bearer ${text}` });
const outcomeOf = async (asked: Promise<{ tokenId: string }>): Promise<string> => {
  try {
    return (await asked).tokenId;
  } catch (thrown) {
    return (thrown as GatewayError).code;
  }
};

describe("an imported key is accepted", () => {
  test.each([
    { authorization: `Bearer ${KEY}` },
    { "x-api-key": KEY },
    { "api-key": KEY },
    { "x-litellm-api-key": KEY },
    { "x-litellm-api-key": `Bearer ${KEY}` },
    { "x-api-key": "sk-ant-a-providers", authorization: `Bearer ${KEY}` },
    { "x-api-key": KEY, authorization: "Bearer sk-a-providers" },
  ])("from %p", async (headers) => {
    expect(await outcomeOf(present(headers as Record<string, string>))).toBe("a");
  });

  test("without a promise and without a look-up while it is fresh", async () => {
    await withKey(KEY);
    const before = keys.finds + keys.asked;
    expect(authenticator.authenticate(new Headers({ "x-api-key": KEY }))).toMatchObject({ tokenId: "a" });
    expect(keys.finds + keys.asked).toBe(before);
  });

  test("while the storage is unavailable, if it was before", async () => {
    await withKey(KEY);
    now += 10_000;
    keys.fault = new Error("no storage");
    expect(await outcomeOf(withKey(KEY))).toBe("a");
    expect(withKey("sk-another")).rejects.toThrow("no storage");
  });
});

describe("it is refused", () => {
  const refusals: [string, string, () => void][] = [
    ["once it has ended", "invalid_token", () => set({ validUntil: now })],
    ["once its token is revoked", "token_revoked", () => change({ revokedAt: 1 })],
    ["once its token is paused", "token_paused", () => change({ pausedAt: 1 })],
    ["once its token has expired", "token_expired", () => change({ expiresAt: now })],
    ["once its user is disabled", "user_disabled", () => change({ userDisabledAt: 1 })],
    ["once its token is gone", "invalid_token", () => tokens.clear()],
    ["once its token has another secret", "invalid_token", () => change({ secretHash: Uint8Array.of(9) })],
  ];
  const set = (more: Partial<ImportedKey>) =>
    keys.records.set(nameOf(hashOf(KEY)), { tokenId: "a", secretHash, validUntil: undefined, ...more });
  const change = (more: Partial<FoundToken>) => tokens.set("a", { ...plainFound, id: "a", secretHash, ...more });

  test.each(refusals)("%s, whether it was cached or not", async (_, code, end) => {
    expect(await outcomeOf(withKey(KEY))).toBe("a");
    end();
    forget();
    expect(await outcomeOf(withKey(KEY))).toBe(code);
    // A second time from the cache.
    expect(await outcomeOf(withKey(KEY))).toBe(code);
  });

  test("when the time of its end passes while it is cached", async () => {
    set({ validUntil: now + 500 });
    expect(await outcomeOf(withKey(KEY))).toBe("a");
    now += 500;
    expect(await outcomeOf(withKey(KEY))).toBe("invalid_token");
  });

  test("after a rotation only once the time of the secret before is over", async () => {
    change({ secretHash: Uint8Array.of(9), previousHash: secretHash, previousUntil: now + 100 });
    expect(await outcomeOf(withKey(KEY))).toBe("a");
    now += 100;
    expect(await outcomeOf(withKey(KEY))).toBe("invalid_token");
  });

  test.each(["sk-", "sk-unknown", `${KEY} `.repeat(2).trim(), KEY.slice(3), `sk-${"x".repeat(600)}`, `SK-${KEY}`])(
    "if it is %p, with the error of any other foreign key",
    async (text) => {
      const error = await present({ "x-api-key": text }).catch((thrown: unknown) => thrown);
      expect(String(error)).toContain("tokens of this gateway begin with tg_");
    },
  );
});

test("a token of this gateway goes before an imported key", async () => {
  const ours = `tg_000000000000_${"x".repeat(43)}`;
  expect(await outcomeOf(present({ "x-api-key": KEY, authorization: `Bearer ${ours}` }))).toBe("invalid_token");
});

test("the hash of a key, and the key under the prefix of our tokens, are no keys", async () => {
  const hash = nameOf(hashOf(KEY));
  for (const text of [hash, `sk-${hash}`, `tg_aaaaaaaaaaaa_${KEY}`])
    expect(await outcomeOf(withKey(text))).toBe("invalid_token");
});

test("while there are no imported keys, the storage is asked for that at most every 800 ms", async () => {
  keys.records.clear();
  for (let index = 0; index < 50; index += 1) expect(await outcomeOf(withKey(`sk-${index}`))).toBe("invalid_token");
  expect([keys.asked, keys.finds]).toEqual([1, 0]);
  keys.records.set(nameOf(hashOf(KEY)), { tokenId: "a", secretHash, validUntil: undefined });
  now += 800;
  expect(await outcomeOf(withKey(KEY))).toBe("a");
});

test("a key that ends while its caller is identified identifies nobody", async () => {
  const identified = async () => {
    try {
      return await authenticator.identify(KEY, {});
    } catch (thrown) {
      return (thrown as GatewayError).code;
    }
  };
  expect(await identified()).toMatchObject({ principal: { tokenId: "a" }, secretHash, keyHash: hashOf(KEY) });
  keys.records.set(nameOf(hashOf(KEY)), { tokenId: "a", secretHash, validUntil: 2_000 });
  forget();
  const [token] = tokens.values();
  tokens = {
    get: () => {
      now = 2_000;
      return token;
    },
  } as unknown as typeof tokens;
  expect(await identified()).toBe("invalid_token");
});
