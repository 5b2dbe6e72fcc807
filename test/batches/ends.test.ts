/** Ends of batches: expired, noticed by a webhook, and those of files that are made to do harm. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { toFile } from "openai";
import { WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import {
  expectCleanAudit,
  type Gateway,
  oneCredit,
  query,
  runCli,
  type ScriptedUpstream,
  spentBy,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import {
  answerTo,
  begin,
  chat,
  clientsOf,
  ended,
  idsUpTo,
  linesOf,
  resultsOf,
  startBatchGateway,
} from "./batch-scene.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  gateway = await startBatchGateway(upstream, {
    config: {
      webhooks: { encryption_key: "the key of a test with more than 32 characters" },
      web: { allow_private_hosts: ["127.0.0.1:*"] },
    },
  });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  await gateway.stop();
  await upstream.stop();
});

test("a batch that expires ends the lines that are called, and nothing is paid for the others", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answerWith(async ({ body }) => {
    if (upstream.requests.length > 4) await Promise.all([gate.promise, Bun.sleep(1_200)]);
    return answerTo(body);
  });
  const { openai } = await clientsOf(gateway, { user: "late" });
  const { id } = await begin(openai, linesOf(idsUpTo(40)), { completion_window: "1h" });
  await until("lines are called", () => upstream.requests.length > 4);
  await query(gateway.storage, `UPDATE batches SET expires_at = 1 WHERE id = '${id}'`);
  gate.resolve();
  const done = await ended(openai, id, 90_000);
  expect(done.status).toBe("expired");
  const errors = await resultsOf(openai, done.error_file_id);
  expect(errors.length).toBeGreaterThan(0);
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["batch_expired"]));
  const completed = done.request_counts?.completed ?? 0;
  expect(completed + errors.length).toBe(40);
  expect(await resultsOf(openai, done.output_file_id)).toHaveLength(completed);
  expect(await spentBy(gateway, "late")).toBeLessThanOrEqual(BigInt(upstream.requests.length) * oneCredit);
});

test("a line that a dead run called keeps its result when the batch is cancelled before the next run", async () => {
  upstream.answerWith(({ body }) => answerTo(body));
  const { openai } = await clientsOf(gateway, { user: "cut" });
  const { id } = await begin(openai, linesOf(["a", "b"]));
  const { output_file_id: output } = await ended(openai, id);
  const called = upstream.requests.length;
  // As if the process had died before it stored the results.
  const run = (statement: string): Promise<unknown[]> => query(gateway.storage, statement);
  await run(`DELETE FROM batch_file_parts WHERE file_id = '${output}'`);
  await run(`UPDATE batch_files SET parts = 0, bytes = 0 WHERE id = '${output}'`);
  await run(`INSERT INTO batch_files SELECT error_file_id, owner, 'batch_output', 'errors', 0, 0, 0, created_at, kept_until
    FROM batches WHERE id = '${id}'`);
  await run(
    `UPDATE batches SET ended_at = NULL, succeeded = 0, status = 'cancelling', cancelling_at = 1 WHERE id = '${id}'`,
  );
  await until("its job has ended", async () => (await run(`SELECT id FROM jobs WHERE id = '${id}'`)).length === 0);
  await run(
    `INSERT INTO jobs (id, kind, owner, payload, run_at, created_at) VALUES ('${id}', 'batch', 'cut', '{}', 1, 1)`,
  );
  const done = await ended(openai, id);
  expect(done).toMatchObject({ status: "cancelled", request_counts: { completed: 2, failed: 0 } });
  expect(await resultsOf(openai, output)).toHaveLength(2);
  expect(upstream.requests).toHaveLength(called);
  expect(await spentBy(gateway, "cut")).toBe(2n * oneCredit);
});

test("the input of an open batch outlives it, and cannot be deleted", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answerWith(async ({ body }) => {
    await gate.promise;
    return answerTo(body);
  });
  const { openai } = await clientsOf(gateway, { user: "hasty" });
  const { id: input } = await openai.files.create({
    file: await toFile(Buffer.from(linesOf(["a"])), "in.jsonl"),
    purpose: "batch",
    expires_after: { anchor: "created_at", seconds: 3_600 },
  });
  const { id, expires_at } = await openai.batches.create({
    input_file_id: input,
    endpoint: chat,
    completion_window: "24h",
  });
  const refusal = await openai.files.delete(input).catch((reason: { status: number }) => reason);
  expect(refusal).toMatchObject({ status: 409, code: "batch_not_ended" });
  expect((await openai.files.retrieve(input)).expires_at).toBeGreaterThanOrEqual(expires_at ?? Infinity);
  gate.resolve();
  expect((await ended(openai, id)).request_counts?.completed).toBe(1);
  expect((await openai.files.delete(input)).deleted).toBe(true);
});

test("the end is sent to webhook_url, signed, with the batch as its route returns it", async () => {
  upstream.answerWith(({ body }) => answerTo(body));
  const { openai, anthropic } = await clientsOf(gateway, { user: "told" });
  await gateway.cli("webhooks", "secret", "--user", "told", "--json");
  using receiver = new WebhookReceiver(() => new Response());
  const { id } = await begin(openai, linesOf(["a"]), { webhook_url: receiver.url });
  await receiver.until(1);
  const message = JSON.parse(receiver.received[0]?.body ?? "") as Record<string, unknown>;
  expect(message).toMatchObject({ type: "batch.completed", data: { id, status: "completed" } });
  const params = { model: "openai/m", max_tokens: 10, messages: [{ role: "user" as const, content: "a" }] };
  const body = { requests: [{ custom_id: "a", params }], webhook_url: receiver.url };
  const messages = await anthropic.messages.batches.create(body);
  await receiver.until(2);
  expect(JSON.parse(receiver.received[1]?.body ?? "")).toMatchObject({
    type: "message_batch.ended",
    data: { id: messages.id, processing_status: "ended" },
  });
  const shown = await gateway.cli("batches", "show", id);
  expect(JSON.parse(shown.stdout)).toMatchObject({ id, status: "completed", lines: { total: 1, succeeded: 1 } });
  const token = await gateway.token({ user: "root", role: "operator", credits: 0n });
  const remote = await runCli(["batches", "show", id, "--server", gateway.url], { TOLLGATE_TOKEN: token });
  expect(JSON.parse(remote.stdout)).toMatchObject({ id, user_id: "told", status: "completed" });
  const listed = await gateway.cli("batches", "list");
  expect(listed.stdout).toContain(id);
  expect((await gateway.cli("batches", "cancel", id)).stdout).toContain("has ended");
});

test("an operator cancels a batch, with a row of audit", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  upstream.answerWith(async ({ body }) => {
    await held;
    // Eight at a time: all lines take more than two seconds, and the run looks at its batch twice a second.
    await Bun.sleep(20);
    return answerTo(body);
  });
  const { openai } = await clientsOf(gateway, { user: "stopped" });
  const { id } = await begin(openai, linesOf(idsUpTo(900)));
  await until("a line is called", () => upstream.requests.length > 0);
  expect((await gateway.cli("batches", "cancel", id, "--reason", "too expensive")).code).toBe(0);
  release();
  expect((await ended(openai, id)).status).toBe("cancelled");
  const rows = JSON.parse((await gateway.cli("audit", "list", "--json")).stdout) as object;
  expect(JSON.stringify(rows)).toContain("too expensive");
  expect(JSON.stringify(rows)).toContain("batch.cancel");
});

/** Almost as many bytes as a file may have. */
function longLines(): Buffer {
  const lines = linesOf([...idsUpTo(49_999), "line-0"]).split("\n");
  const bytes = 4_000;
  return Buffer.from(lines.map((line) => (line === "" ? "" : `${line.padEnd(bytes - 1)}\n`)).join(""));
}

test.each([
  ["of one line of 200 MiB", (): Buffer => Buffer.alloc(200 * 1024 * 1024, "a"), "line_too_long"],
  ["of 50,001 lines", (): Buffer => Buffer.from(linesOf(idsUpTo(50_001))), "too_many_lines"],
  ["of 50,000 lines of 4 KB, whose last one has another one's id", (): Buffer => longLines(), "duplicate_custom_id"],
])("a file %s fails its batch while other calls go on", async (_, fileOf, code) => {
  upstream.answerWith(({ body }) => answerTo(body));
  const { openai, token } = await clientsOf(gateway, { user: "poisoner" });
  const { id } = await begin(openai, fileOf());
  await callWhile(token, async () => (await openai.batches.retrieve(id)).status !== "failed");
  expect((await ended(openai, id)).errors?.data?.[0]?.code).toBe(code);
});

/** Makes chat calls one after the other, which are answered, as long as this is true. */
async function callWhile(token: string, goesOn: () => Promise<boolean>): Promise<void> {
  do {
    const messages = [{ role: "user", content: "hi" }];
    const answer = await fetch(gateway.url + chat, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/m", max_tokens: 5, messages }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  } while (await goesOn());
}
