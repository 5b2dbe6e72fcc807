/** Another process has the SQLite file's write lock for a while, as a backup or a long command does. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectCleanAudit, gatedBody, type Gateway, postChat, sharedGatedGateway, until } from "../kit/index.ts";

const shared = sharedGatedGateway();
let gateway: Gateway;
let token: string;
let other: Database;
beforeAll(async () => {
  gateway = shared.gateway;
  token = await gateway.token({ user: "user" });
  other = new Database(gateway.storageUrl.slice("sqlite:".length));
});
afterAll(() => other.close());

const health = async (): Promise<number> => (await fetch(`${gateway.url}/health`)).status;

/** Answers of /health while the lock is held: the process is not held up by what waits for it. */
async function healthyWhileLocked(): Promise<void> {
  for (let asked = 0; asked < 20; asked += 1) expect(await health()).toBe(200);
}

test("calls wait for the lock without holding others up, and are then answered and charged", async () => {
  other.run("BEGIN IMMEDIATE");
  let answered = 0;
  const calls = Array.from({ length: 4 }, async () => {
    const answer = await postChat(gateway, token, gatedBody("some-model"));
    answered += 1;
    await answer.arrayBuffer();
    return answer.status;
  });
  await healthyWhileLocked();
  expect(answered).toBe(0);
  other.run("COMMIT");
  expect(await Promise.all(calls)).toEqual([200, 200, 200, 200]);
  await expectCleanAudit(gateway);
});

test("the end of a stream waits too, and nothing of it is lost", async () => {
  const answer = await postChat(gateway, token, gatedBody("held-stream", { stream: true }));
  const reader = answer.body?.getReader();
  await reader?.read();
  other.run("BEGIN IMMEDIATE");
  shared.upstream.release("held-stream");
  await healthyWhileLocked();
  other.run("COMMIT");
  let text = "";
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    text += Buffer.from(part.value).toString();
  expect(text).toEndWith("data: [DONE]\n\n");
  await expectCleanAudit(gateway);
});

test("a lock that stays refuses calls with 503, and the gateway goes on afterwards", async () => {
  other.run("BEGIN IMMEDIATE");
  const refused = await postChat(gateway, token, gatedBody("some-model"));
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  await healthyWhileLocked();
  other.run("COMMIT");
  await until("calls are answered again", async () => {
    return (await postChat(gateway, token, gatedBody("some-model"))).status === 200;
  });
  await expectCleanAudit(gateway);
});

test("a command waits for it as well", async () => {
  other.run("BEGIN IMMEDIATE");
  const granting = gateway.cli("credits", "grant", "--user", "user", "--amount", "1", "--json");
  await healthyWhileLocked();
  other.run("COMMIT");
  expect((await granting).code).toBe(0);
});
