/** A user makes their own webhook secret over HTTP, with which webhooks work at once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAccounts } from "../../src/app/accounts.ts";
import { type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const post = async (token: string, body: object = {}, query = "") => {
  const answer = await fetch(`${rig.gateway.url}/v1/webhooks/secret${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
};

test("is made once, rotated, and never in the log or the audit log", async () => {
  const token = await rig.gateway.token({ user: "ann" });
  expect(await post(token, {}, "?dry_run=true")).toMatchObject({ status: 200, json: { secret: null } });
  const first = await post(token, { reason: "for crawls" });
  expect(first).toMatchObject({
    status: 200,
    json: { object: "webhook_secret", user: "ann", user_id: "ann", previous_signs_until: null },
  });
  expect(first.json["secret"]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await post(token)).toMatchObject({ status: 409, json: { error: { code: "account_conflict" } } });
  const second = await post(token, { rotate: true });
  expect(second).toMatchObject({ status: 200, json: { previous_signs_until: expect.any(String) as string } });
  expect(second.json["secret"]).not.toBe(first.json["secret"]);
  // Once a minute.
  expect(await post(token, { rotate: true })).toMatchObject({ status: 409, json: { error: { param: "rotate" } } });
  // Another user's is another one.
  expect((await post(await rig.gateway.token({ user: "ben" }))).status).toBe(200);
  expect((await post(token, { user: "ben" })).status).toBe(422);
  const { log } = createAccounts(
    rig.gateway.storage,
    { clock: Date.now, randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)) },
    "test",
  );
  const rows = (await log.list({ limit: 500 })).filter(
    ({ target, act }) => target === "user:ann" && /secret/.test(act),
  );
  expect(rows).toMatchObject([
    { act: "webhook_secret.rotate", actor: `token:${token.split("_")[1]}`, address: "127.0.0.1" },
    { act: "webhook_secret.create", reason: "for crawls", requestId: expect.stringMatching(/^req_/) as string },
  ]);
  for (const secret of [first, second].map(({ json }) => String(json["secret"])))
    expect(JSON.stringify(rows) + rig.gateway.log()).not.toContain(secret.slice("whsec_".length));
});

test("is not for a token with limits of its own", async () => {
  const token = await rig.gateway.token({ user: "cleo", rpm: 100 });
  expect(await post(token)).toMatchObject({ status: 403, json: { error: { code: "role_required" } } });
});
