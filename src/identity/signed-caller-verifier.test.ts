import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHmac, randomBytes } from "node:crypto";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { pino } from "pino";
import { type AccountsDependencies, addHolder, changeHolder, changeToken, deleteHolder } from "../accounts/index.ts";
import { findHolderState, revokeToken, rotateToken } from "../accounts/index.ts";
import { Authenticator, openClientSecretStore, openTokenStore, type Principal } from "../auth/index.ts";
import { checkConfig } from "../config/index.ts";
import { GatewayError } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";
import { createAccounts } from "../../test/kit/accounts.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { TestIssuer } from "./__fixtures__/issuer.ts";
import { SignedCallerVerifier } from "./signed-caller-verifier.ts";

const START = Date.UTC(2026, 10, 27);
const ours = { issuer: "https://issuer.test", name: "corp", audience: "gateway" };

let storage: Storage;
let deps: AccountsDependencies;
let issuer: TestIssuer;
let now: number;
let authenticator: Authenticator;

/** Puts a configuration of one issuer in force. */
function configure(entry: object = {}): void {
  const { auth } = checkConfig({ auth: { issuers: [{ ...ours, create: true, ...entry }] }, providers: {} });
  const verifier = new SignedCallerVerifier({
    issuers: auth.issuers,
    outboundTo: () => issuer.outbound,
    accounts: deps,
    addressOf: () => "192.0.2.1",
    clock: () => now,
    logger: pino({ level: "silent" }),
  });
  authenticator.acceptSigned((text, from) => verifier.verify(text, from));
}

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = START;
  const clock = () => now;
  deps = createAccounts(storage, { clock, randomBytes: (size) => randomBytes(size) }, "cli:test");
  issuer = new TestIssuer();
  await issuer.rotate("first");
  authenticator = new Authenticator({
    store: openTokenStore(storage),
    clientSecrets: openClientSecretStore(storage),
    clock,
    onChange: () => undefined,
  });
  configure();
});
afterEach(() => storage.close());

const seconds = (at = now): number => Math.floor(at / 1_000);

function claims(changes: JWTPayload = {}): JWTPayload {
  return { iss: issuer.url, aud: "gateway", sub: "alice", exp: seconds() + 600, ...changes };
}

async function present(text: string, header = "authorization"): Promise<Principal> {
  // Stored tokens are read again.
  now += 1_000;
  const value = header === "authorization" ? `Bearer ${text}` : text;
  return authenticator.authenticate(new Headers({ [header]: value }), undefined, {
    request: new Request("http://g.test/"),
    requestId: "req_1",
  });
}

/** The code of a refusal, or the name of the user. */
async function outcome(text: string | Promise<string>): Promise<string | undefined> {
  try {
    return (await present(await text)).userName;
  } catch (reason) {
    return reason instanceof GatewayError ? reason.code : String(reason);
  }
}

const acts = async (): Promise<string[]> => (await deps.log.listAfter(0, 100)).map(({ act }) => act);

describe("a signed token is refused", () => {
  const now600 = (changes: JWTPayload) => () => issuer.sign(claims(changes));
  test.each<[string, () => Promise<string> | string, string]>([
    ["of another issuer", now600({ iss: "https://other.test" }), "invalid_token"],
    ["of an issuer that only begins the same", now600({ iss: "https://issuer.test/" }), "invalid_token"],
    ["without an issuer", now600({ iss: undefined as never }), "invalid_token"],
    ["for another audience", now600({ aud: "other" }), "invalid_token"],
    ["for a list without the audience", now600({ aud: ["other", "gateway2"] }), "invalid_token"],
    ["without an audience", now600({ aud: undefined as never }), "invalid_token"],
    ["that has expired", now600({ exp: seconds(START) - 61 }), "token_expired"],
    ["without an end", now600({ exp: undefined as never }), "invalid_token"],
    ["that is not valid yet", now600({ nbf: seconds(START) + 90 }), "invalid_token"],
    ["without a subject", now600({ sub: undefined as never }), "invalid_token"],
    ["with an empty subject", now600({ sub: "" }), "invalid_token"],
    ["with a subject of half a character", now600({ sub: "\ud800" }), "invalid_token"],
    ["for another use", () => issuer.sign(claims(), { typ: "logout+jwt" }), "invalid_token"],
    ["that names an unknown key", () => issuer.sign(claims(), { kid: "second" }), "invalid_token"],
  ])("%s", async (_, sign, code) => {
    expect(await outcome(sign())).toBe(code);
    expect(await acts()).toEqual([]);
  });

  test("by another key under the same id", async () => {
    const { privateKey } = await generateKeyPair("ES256");
    const text = new SignJWT(claims()).setProtectedHeader({ alg: "ES256", kid: "first" }).sign(privateKey);
    expect(await outcome(text)).toBe("invalid_token");
  });

  test("whose claims were changed after the signature", async () => {
    const [header, , signature] = (await issuer.sign(claims())).split(".");
    const payload = Buffer.from(JSON.stringify(claims({ sub: "root" }))).toString("base64url");
    expect(await outcome(`${header}.${payload}.${signature}`)).toBe("invalid_token");
  });

  const unsigned = (header: object) =>
    [header, claims()].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

  test("without a signature", async () => {
    expect(await outcome(`${unsigned({ alg: "none" })}.`)).toBe("invalid_token");
    expect(await outcome(`${unsigned({ alg: "none", kid: "first" })}.AAAA`)).toBe("invalid_token");
    expect(await outcome(`${unsigned({ alg: "NONE" })}.`)).toBe("invalid_token");
  });

  test("with the public key as the secret of HS256", async () => {
    await issuer.rotate("first", "RS256");
    const { publicKey } = await generateKeyPair("RS256", { extractable: true });
    const published = { ...(await exportJWK(publicKey)), kid: "first", alg: "RS256" };
    issuer.keys = issuer.keys.map((key) => ({ ...key, published }));
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(published)]) {
      const text = unsigned({ alg: "HS256", kid: "first" });
      const signature = createHmac("sha256", secret).update(text).digest("base64url");
      expect(await outcome(`${text}.${signature}`)).toBe("invalid_token");
    }
  });

  test("by a symmetric key that the issuer publishes", async () => {
    const secret = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
    const published = { kty: "oct", k: Buffer.from(secret).toString("base64url"), kid: "first", alg: "HS256" };
    issuer.keys = issuer.keys.map((key) => ({ ...key, published }));
    const text = new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(secret);
    expect(await outcome(text)).toBe("invalid_token");
  });

  test("with a key in its own header", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = await exportJWK(publicKey);
    const text = new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", jwk, jku: "https://evil.test/keys" })
      .sign(privateKey);
    expect(await outcome(text)).toBe("invalid_token");
    expect(issuer.asked.filter((url) => url.includes("evil"))).toEqual([]);
  });
});

describe("a signed token is accepted", () => {
  test.each(["RS256", "PS256", "ES384", "EdDSA"])("with %s", async (alg) => {
    await issuer.rotate("other", alg);
    expect(await outcome(issuer.sign(claims()))).toBe("alice");
  });

  test("within a minute of its times, and not after", async () => {
    expect(await outcome(issuer.sign(claims({ exp: seconds() - 50, nbf: seconds() + 50 })))).toBe("alice");
    const text = await issuer.sign(claims({ exp: seconds() + 5 }));
    expect((await present(text)).signedUntil).toBe(seconds(START + 1_000) * 1_000 + 65_000);
    now += 62_000;
    expect(await outcome(text)).toBe("alice");
    now += 4_000;
    expect(await outcome(text)).toBe("token_expired");
  });

  test("in every header, beside a provider's key", async () => {
    const text = await issuer.sign(claims());
    for (const header of ["authorization", "x-api-key", "api-key"])
      expect((await present(text, header)).userName).toBe("alice");
    const headers = new Headers({ "x-api-key": "sk-ant-something", authorization: `Bearer ${text}` });
    expect((await authenticator.authenticate(headers)).userName).toBe("alice");
    const google = authenticator.authenticate(new Headers(), { text, place: "x-goog-api-key" });
    expect((await google).userName).toBe("alice");
  });

  test("and makes one user and one token, however many come at once", async () => {
    const texts = await Promise.all([1, 2, 3].map((jti) => issuer.sign(claims({ jti: String(jti) }))));
    const found = await Promise.all(Array.from({ length: 60 }, (_, index) => present(texts[index % 3] ?? "")));
    expect(new Set(found.map(({ tokenId }) => tokenId)).size).toBe(1);
    expect(await acts()).toEqual(["user.sign_in"]);
    expect(issuer.asked).toHaveLength(2);
    const [row] = await deps.log.listAfter(0, 1);
    expect([row?.actor, row?.address, row?.requestId]).toEqual(["issuer:corp", "192.0.2.1", "req_1"]);
  });

  test("with the same principal as long as nothing changes", async () => {
    const text = await issuer.sign(claims());
    const first = await present(text);
    expect(await present(text)).toBe(first);
    await changeToken(deps, first.tokenId, { rpm: 5 });
    expect((await present(text)).rates).toEqual({ requestsPerMinute: 5 });
  });

  test("and nothing else changes for tokens of the gateway", async () => {
    authenticator.acceptSigned(undefined);
    expect(await outcome(issuer.sign(claims()))).toBe("invalid_token");
  });
});

describe("claims", () => {
  const group = (groups: unknown) => issuer.sign(claims({ realm: { groups } }));

  test("a role comes through the configured ones alone", async () => {
    configure({ claims: { role: "realm.groups" }, roles: { "gateway-admins": "owner", readers: "auditor" } });
    const roleOf = async (groups: unknown) => (await present(await group(groups))).role;
    expect(await roleOf(["staff", "gateway-admins"])).toBe("owner");
    expect(await roleOf(["readers"])).toBe("auditor");
    expect(await roleOf("readers")).toBe("auditor");
    for (const none of [["owner"], "owner", ["Gateway-admins"], [], null, { owner: true }, [["owner"]], undefined])
      expect(await roleOf(none)).toBe("member");
    // That of the stored user does not count either.
    await changeHolder(deps, { kind: "user", name: "alice" }, { role: "owner" });
    expect(await roleOf(["staff"])).toBe("member");
  });

  test("requirements must match", async () => {
    configure({ require: { repository_owner: "acme", ref: ["refs/heads/*", "refs/tags/v*"], "a.b": "1" } });
    const good = { repository_owner: "acme", ref: "refs/tags/v1", a: { b: 1 } };
    const ask = (changes: object) => outcome(issuer.sign(claims({ ...good, ...changes })));
    expect(await ask({})).toBe("alice");
    for (const changes of [{ repository_owner: "acme2" }, { repository_owner: undefined }, { ref: "refs/pull/1" }])
      expect(await ask(changes)).toBe("invalid_token");
    expect(await ask({ a: { b: [2, "x"] } })).toBe("invalid_token");
    expect(await ask({ a: null })).toBe("invalid_token");
  });

  test("a claim that names an existing user does not make anybody them", async () => {
    configure({ claims: { user: "name" } });
    await addHolder(deps, { kind: "user", name: "root", role: "owner" });
    expect(await outcome(issuer.sign(claims({ name: "root" })))).toBe("invalid_token");
    expect(await outcome(issuer.sign(claims({ name: "ann" })))).toBe("ann");
    // Another subject with the name of a bound user.
    expect(await outcome(issuer.sign(claims({ name: "ann", sub: "mallory" })))).toBe("invalid_token");
    // The bound one has another name by now.
    expect(await outcome(issuer.sign(claims({ name: "root" })))).toBe("ann");
  });

  test("names have only the characters of names", async () => {
    const { userName } = await present(await issuer.sign(claims({ sub: "repo:acme/app:ref:refs/heads/main" })));
    expect(userName).toBe("repo-acme-app-ref-refs-heads-main");
    expect(await outcome(issuer.sign(claims({ sub: "x".repeat(129) })))).toBe("invalid_token");
    configure({ claims: { user: "email" } });
    const mail = { email: "b@acme.test", sub: "b" };
    expect(await outcome(issuer.sign(claims({ ...mail, email_verified: false })))).toBe("invalid_token");
    expect(await outcome(issuer.sign(claims({ ...mail, email_verified: true })))).toBe("b@acme.test");
  });

  test("an organisation is the one that is named, and exists", async () => {
    await addHolder(deps, { kind: "organisation", name: "acme" });
    configure({ claims: { organisation: "org" }, organisation: "acme" });
    expect((await present(await issuer.sign(claims()))).organisation).toBe("acme");
    expect(await outcome(issuer.sign(claims({ sub: "bob", org: "none" })))).toBe("invalid_token");
    configure({});
    expect((await present(await issuer.sign(claims({ sub: "bob" })))).organisation).toBeUndefined();
  });
});

describe("a binding", () => {
  const place = { issuer: "https://issuer.test", subject: "alice" };
  const user = { kind: "user", name: "ann" } as const;

  test("by hand is needed unless users are made", async () => {
    configure({ create: false });
    expect(await outcome(issuer.sign(claims()))).toBe("invalid_token");
    await addHolder(deps, { ...user, identities: [place] });
    expect(await outcome(issuer.sign(claims()))).toBe("ann");
    expect((await findHolderState(deps, user)).identities).toEqual([place]);
    expect(addHolder(deps, { kind: "user", name: "eve", identities: [place] })).rejects.toThrow("is user ann");
    // Taken away, its token ends, also if it was verified before; given back, it is another one.
    const text = await issuer.sign(claims());
    const { tokenId } = await present(text);
    await changeHolder(deps, user, { identities: [] });
    expect(await outcome(text)).toBe("token_revoked");
    expect(await outcome(text)).toBe("invalid_token");
    await changeHolder(deps, user, { identities: [place] });
    expect((await present(text)).tokenId).not.toBe(tokenId);
  });

  test("is for owners to set", async () => {
    await addHolder(deps, { kind: "organisation", name: "acme" });
    await addHolder(deps, { ...user, organisation: "acme" });
    const caller = {
      actor: { name: "token:x" },
      role: "organisation_admin",
      user: "boss",
      organisation: "acme",
    } as const;
    const change = changeHolder({ ...deps, caller }, user, { identities: [place] });
    expect(change).rejects.toMatchObject({ code: "role_required" });
  });

  test("ends with its user, who does not come back", async () => {
    const text = await issuer.sign(claims());
    await present(text);
    await changeHolder(deps, { kind: "user", name: "alice" }, { disabled: true });
    expect(await outcome(text)).toBe("user_disabled");
    await deleteHolder(deps, { kind: "user", name: "alice" });
    expect(await outcome(text)).toBe("token_revoked");
    expect(await outcome(issuer.sign(claims({ jti: "2" })))).toBe("token_revoked");
    // Somebody else may be bound to the subject.
    await addHolder(deps, { ...user, identities: [place] });
    expect(await outcome(issuer.sign(claims({ jti: "3" })))).toBe("ann");
  });

  test("that was never used does not become that of a later user with the name", async () => {
    configure({ create: false });
    const alice = { kind: "user", name: "alice" } as const;
    await addHolder(deps, { ...alice, identities: [place] });
    await deleteHolder(deps, alice);
    await addHolder(deps, alice);
    expect(await outcome(issuer.sign(claims()))).toBe("invalid_token");
    await changeHolder(deps, alice, { identities: [place] });
    const { user: id, userName } = await present(await issuer.sign(claims({ jti: "2" })));
    expect([id.startsWith("user_"), userName]).toEqual([true, "alice"]);
  });

  test("has a token without a secret, which can be paused and revoked", async () => {
    const text = await issuer.sign(claims());
    const { tokenId } = await present(text);
    expect(rotateToken(deps, tokenId, 0)).rejects.toThrow("has no secret");
    await changeToken(deps, tokenId, { paused: true });
    expect(await outcome(text)).toBe("token_paused");
    await changeToken(deps, tokenId, { paused: false });
    expect(await outcome(text)).toBe("alice");
    await revokeToken(deps, tokenId);
    expect(await outcome(text)).toBe("token_revoked");
  });
});

describe("keys", () => {
  test("that rotate are found, and unknown ones do not make the gateway ask often", async () => {
    expect(await outcome(issuer.sign(claims()))).toBe("alice");
    await issuer.rotate("second");
    const text = await issuer.sign(claims({ jti: "2" }));
    expect(await outcome(text)).toBe("invalid_token");
    now += 30_000;
    expect(await outcome(text)).toBe("alice");
    const asked = issuer.asked.length;
    const unknown = await Promise.all(
      Array.from({ length: 50 }, (_, index) => issuer.sign(claims(), { kid: `unknown-${index}` })),
    );
    now += 29_000;
    expect(new Set(await Promise.all(unknown.map((each) => outcome(each))))).toEqual(new Set(["invalid_token"]));
    expect(issuer.asked.length).toBeLessThanOrEqual(asked + 4);
  });

  test("that were withdrawn are refused after ten minutes, or a minute if the token was verified", async () => {
    const text = await issuer.sign(claims({ exp: seconds() + 6_000 }));
    expect(await outcome(text)).toBe("alice");
    issuer.keys = [];
    now += 601_000;
    expect(await outcome(text)).toBe("invalid_token");
  });

  test("that are in hand are used while the issuer hangs, and those that it sends at last count", async () => {
    const text = await issuer.sign(claims({ exp: seconds() + 6_000 }));
    expect(await outcome(text)).toBe("alice");
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    now += 601_000;
    const asked = issuer.asked.length;
    const texts = await Promise.all(["a", "b", "c"].map((jti) => issuer.sign(claims({ jti, exp: seconds() + 6_000 }))));
    const [first, ...rest] = texts;
    expect(await outcome(first ?? "")).toBe("alice");
    // The first has waited for a second; the others do not.
    const at = performance.now();
    for (const each of rest) expect(await outcome(each)).toBe("alice");
    expect(performance.now() - at).toBeLessThan(500);
    expect(issuer.asked).toHaveLength(asked + 1);
    issuer.keys = [];
    gate.resolve();
    for (let turn = 0; turn < 10; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    now += 61_000;
    expect(await outcome(first ?? "")).toBe("invalid_token");
  });

  test("are read once for all who wait, and used while they can't be read", async () => {
    const gate = Promise.withResolvers<void>();
    issuer.gate = gate.promise;
    const text = await issuer.sign(claims({ exp: seconds() + 9_000 }));
    const texts = await Promise.all([1, 2, 3].map((jti) => issuer.sign(claims({ jti: String(jti) }))));
    const all = Promise.all([text, ...texts].map((each) => outcome(each)));
    gate.resolve();
    expect(new Set(await all)).toEqual(new Set(["alice"]));
    expect(issuer.asked).toHaveLength(2);
    issuer.status = 500;
    now += 601_000;
    expect(await outcome(text)).toBe("alice");
    now += 3_600_000;
    expect(await outcome(text)).toBe("issuer_unavailable");
    const asked = issuer.asked.length;
    await Promise.all(
      Array.from({ length: 20 }, () => authenticator.authenticate(new Headers({ "api-key": text }))).map((each) =>
        Promise.resolve(each).catch(() => undefined),
      ),
    );
    expect(issuer.asked).toHaveLength(asked);
    issuer.status = 200;
    now += 10_000;
    expect(await outcome(text)).toBe("alice");
  });

  test.each<[string, object]>([
    ["of another issuer", { issuer: "https://other.test" }],
    ["behind plain HTTP", { jwks_uri: "http://keys.issuer.test/" }],
    ["on this machine", { jwks_uri: "http://127.0.0.1/keys" }],
    ["nowhere", { jwks_uri: "no address" }],
  ])("%s are not used", async (_, document) => {
    issuer.document = document;
    expect(await outcome(issuer.sign(claims()))).toBe("issuer_unavailable");
    expect(issuer.asked).toHaveLength(1);
  });

  test("of Microsoft's tenants are for the tenant that they name", async () => {
    const base = "https://login.microsoftonline.com";
    issuer = new TestIssuer(`${base}/common/v2.0`);
    const tenant = "11111111-2222-3333-4444-555555555555";
    issuer.document = { issuer: `${base}/{tenantid}/v2.0` };
    configure({ issuer: issuer.url, require: { tid: tenant } });
    const sign = (iss: string) => issuer.sign(claims({ iss, tid: tenant }));
    await issuer.rotate("a", "ES256", { issuer: `${base}/{tenantid}/v2.0` });
    expect(await outcome(sign(`${base}/${tenant}/v2.0`))).toBe("alice");
    expect(await outcome(sign(`${base}/common/v2.0`))).toBe("invalid_token");
    expect(await outcome(sign(`${base}/evil/v2.0`))).toBe("invalid_token");
    await issuer.rotate("b", "ES256", { issuer: `${base}/99999999-2222-3333-4444-555555555555/v2.0` });
    now += 31_000;
    expect(await outcome(sign(`${base}/${tenant}/v2.0`))).toBe("invalid_token");
  });
});
