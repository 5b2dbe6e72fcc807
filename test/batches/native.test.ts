/** Batches that providers run themselves, on all five of them: at half the price, each line once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { z } from "zod";
import { expectCleanAudit, flatPrice, query, type Rig, sorted, spentBy, startRig, until } from "../kit/index.ts";
import { begin, chat, clientsOf, ended, idsUpTo, resultsOf, upload } from "./batch-scene.ts";

/** Answers of the provider's fixed model cost one credit a call. */
const fixed = "mistral/mistral-fixed";

let rig: Rig;
beforeAll(async () => {
  const models = { [fixed]: { requests_kcount: 1_000 }, "*": flatPrice };
  const tools = { hosted: { web_search: "gateway" } };
  rig = await startRig({ config: { pricing: { models }, upstream: { retries: 0 }, tools } });
});
afterAll(async () => {
  await expectCleanAudit(rig.gateway);
  await rig.stop();
});

let users = 0;
async function newUser(more: object = {}) {
  users += 1;
  const user = `native-${users}`;
  return { user, ...(await clientsOf(rig.gateway, { user, ...more })) };
}

function lineOf(model: string, id: string, question = id): string {
  const body = { model, messages: [{ role: "user", content: question }], max_tokens: 50 };
  return `${JSON.stringify({ custom_id: id, method: "POST", url: chat, body })}\n`;
}

const linesOf = (model: string, questions: readonly string[]): string =>
  questions.map((question, index) => lineOf(model, `line-${index}`, question)).join("");

const isCreation = /\/(?:batches|batch\/jobs)$|:batchGenerateContent$/;

/** The files and batches that a simulator has been asked to make. */
function created(provider: string) {
  const own = rig.simulators.requests().filter((each) => each.provider === provider);
  const files = own.filter(({ path, parts }) => path.endsWith("/files") && parts !== null);
  const made = own.filter(({ method, path }) => method === "POST" && isCreation.test(path));
  return { files: files.length, batches: made.length };
}

async function recordsOf(token: string, batch: string) {
  const response = await fetch(`${rig.gateway.url}/v1/generations?parent_id=${batch}&limit=100`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return z
    .object({
      data: z.array(
        z.object({ provider: z.string(), status: z.number(), tags: z.record(z.string(), z.string()).nullish() }),
      ),
    })
    .parse(await response.json()).data;
}

const providers = [
  ["openai", "openai/gpt-4o-mini"],
  ["anthropic", "anthropic/claude-haiku-4-5"],
  ["mistral", "mistral/mistral-small-latest"],
  ["google", "google/gemini-2.5-flash"],
  ["xai", "xai/grok-4"],
] as const;

const statesOf = (results: Awaited<ReturnType<typeof resultsOf>>) =>
  results.map(({ response }) => response?.status_code);

/** All at the same time: they wait for the same look-ups. A failure contains the provider's name. */
async function onEach(work: (provider: string, model: string) => Promise<void>): Promise<void> {
  rig.simulators.clear();
  const all = providers.map(async ([provider, own]) => {
    try {
      await work(provider, own);
    } catch (cause) {
      throw new Error(`${provider}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
  await Promise.all(all);
}

describe("each provider", () => {
  const halfPrice = async (provider: string, model: string): Promise<void> => {
    const { openai, user, token } = await newUser();
    const whole = await rig.caller();
    const questions = [...idsUpTo(6), "line:fail"];
    const batch = await begin(openai, linesOf(model, questions));
    for (const content of questions.slice(0, 6)) {
      const asked = await whole.chat({ model, messages: [{ role: "user", content }], max_tokens: 50 });
      expect(asked.status).toBe(200);
    }
    const done = await ended(openai, batch.id);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 7, completed: 6, failed: 1 } });
    expect(created(provider)).toMatchObject({ batches: 1 });
    const results = await resultsOf(openai, done.output_file_id);
    expect(sorted(results.map(({ custom_id }) => custom_id))).toEqual(idsUpTo(6));
    for (const { response } of results) {
      expect(response?.body).toMatchObject({ object: "chat.completion" });
    }
    expect(statesOf(await resultsOf(openai, done.error_file_id))).toEqual([400]);
    expect(await spentBy(rig.gateway, user)).toBe((await whole.closed()) / 2n);
    const records = await recordsOf(token, batch.id);
    expect(sorted(records.map(({ status }) => String(status)))).toEqual(
      [200, 200, 200, 200, 200, 200, 400].map(String),
    );
    expect(new Set(records.map((each) => each.provider))).toEqual(new Set([provider]));
  };

  const cancelled = async (provider: string, model: string): Promise<void> => {
    const { openai, user } = await newUser();
    const batch = await begin(openai, linesOf(model, ["batch:wait", "a", "b", "c", "d", "e"]));
    await until("the provider has it", () => created(provider).batches === 1);
    expect((await openai.batches.cancel(batch.id)).status).toBe("cancelling");
    const done = await ended(openai, batch.id);
    const called = provider === "google" ? 0 : 3;
    expect(done).toMatchObject({ status: "cancelled", request_counts: { total: 6, completed: called, failed: 0 } });
    expect(await resultsOf(openai, done.output_file_id)).toHaveLength(called);
    expect(await spentBy(rig.gateway, user)).toBeGreaterThanOrEqual(BigInt(called));
  };

  test("runs the lines of a batch at half the price, and bills none that failed", () => onEach(halfPrice));

  test("is asked to cancel the lines that run there, and bills the lines that it has called", () => onEach(cancelled));
});

const [[, model]] = providers;

test("lines that their provider did not call before a batch of its own expired are sent to it again", async () => {
  const { openai, token } = await newUser();
  rig.simulators.clear();
  const batch = await begin(openai, linesOf(model, ["batch:expire", "a", "b", "c"]));
  await until("the provider has it", () => created("openai").batches === 1);
  rig.simulators.advance(25 * 3_600_000);
  const done = await ended(openai, batch.id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 4, failed: 0 } });
  expect(created("openai").batches).toBe(2);
  expect(await recordsOf(token, batch.id)).toHaveLength(4);
});

test("a batch that expires has the results of the lines that were called", async () => {
  const { openai, token } = await newUser();
  rig.simulators.clear();
  const batch = await begin(openai, linesOf(model, ["batch:wait", "a", "b", "c"]));
  await until("the provider has it", () => created("openai").batches === 1);
  await query(rig.gateway.storage, `UPDATE batches SET expires_at = ${Date.now() - 1_000} WHERE id = '${batch.id}'`);
  const done = await ended(openai, batch.id);
  expect(done).toMatchObject({ status: "expired", request_counts: { total: 4, completed: 2, failed: 2 } });
  const errors = await resultsOf(openai, done.error_file_id);
  expect(errors.map(({ error }) => error?.code)).toEqual(["batch_expired", "batch_expired"]);
  expect(await recordsOf(token, batch.id)).toHaveLength(2);
});

test.each(["openai", "anthropic"])("a batch that %s refuses as a whole runs here, at the usual price", async (name) => {
  const own = providers.find(([provider]) => provider === name)?.[1] ?? model;
  const { openai, user } = await newUser();
  const whole = await rig.caller();
  const questions = ["batch:refuse", "a", "b"];
  const batch = await begin(openai, linesOf(own, questions));
  for (const content of questions) {
    await whole.chat({ model: own, messages: [{ role: "user", content }], max_tokens: 50 });
  }
  const done = await ended(openai, batch.id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: 3, completed: 3, failed: 0 } });
  expect(await spentBy(rig.gateway, user)).toBe(await whole.closed());
});

test("lines of two models of a provider that demands one, and those with a route or a short window, run here", async () => {
  const { openai, user } = await newUser();
  rig.simulators.clear();
  const mixed = lineOf(model, "line-0") + lineOf("openai/gpt-4o", "line-1");
  const batches: OpenAI.Batch[] = [await begin(openai, mixed)];
  batches.push(await begin(openai, lineOf(model, "line-0"), { completion_window: "2h" }));
  for (const { id } of batches) expect((await ended(openai, id)).status).toBe("completed");
  expect(created("openai")).toMatchObject({ batches: 0, files: 0 });
  expect(await spentBy(rig.gateway, user)).toBeGreaterThan(0n);
});

test("lines of a caller with a limit of open calls run here: at a provider they would be open for hours", async () => {
  const { openai } = await newUser({ concurrency: 8 });
  rig.simulators.clear();
  const batch = await begin(openai, linesOf(model, idsUpTo(20)));
  expect((await ended(openai, batch.id)).request_counts).toMatchObject({ completed: 20, failed: 0 });
  expect(created("openai")).toMatchObject({ batches: 0, files: 0 });
});

test("credits for 100 of 1,000 lines at the price of batches pay for exactly 100", async () => {
  const { openai, user } = await newUser({ credits: 50_000_000_000n });
  const batch = await begin(openai, linesOf(fixed, idsUpTo(1_000)));
  const done = await ended(openai, batch.id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: 1_000, completed: 100, failed: 900 } });
  const errors = await resultsOf(openai, done.error_file_id);
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["insufficient_credits"]));
  expect(await spentBy(rig.gateway, user)).toBe(50_000_000_000n);
});

test("a batch of Messages goes to another provider's batches, translated", async () => {
  const { anthropic, user } = await newUser();
  rig.simulators.clear();
  const params = { model, max_tokens: 50, messages: [{ role: "user" as const, content: "hello" }] };
  const { id } = await anthropic.messages.batches.create({ requests: [{ custom_id: "a", params }] });
  const done = await until("it has ended", async () => {
    const batch = await anthropic.messages.batches.retrieve(id);
    return batch.processing_status === "ended" && batch;
  });
  expect(done.request_counts).toMatchObject({ succeeded: 1, errored: 0 });
  for await (const line of await anthropic.messages.batches.results(id)) {
    expect(line).toMatchObject({ custom_id: "a", result: { type: "succeeded", message: { type: "message" } } });
  }
  expect(created("openai").batches).toBe(1);
  expect(await spentBy(rig.gateway, user)).toBeGreaterThan(0n);
});

test("lines that a provider has are answered and charged although their caller has lost the model", async () => {
  const { gateway, simulators } = rig;
  const { openai, user } = await newUser();
  simulators.clear();
  const batch = await begin(openai, linesOf(model, ["batch:slow", "a"]));
  await until("the provider has it", () => created("openai").batches === 1);
  expect((await gateway.cli("user", "set", user, "--models", "mistral/*")).stderr).toBe("");
  expect((await gateway.cli("providers", "disable", model)).stderr).toBe("");
  simulators.advance(60_000);
  expect((await ended(openai, batch.id)).request_counts).toMatchObject({ completed: 2, failed: 0 });
  expect((await gateway.cli("providers", "enable", model)).code).toBe(0);
  expect(await spentBy(gateway, user)).toBeGreaterThan(0n);
});

/** A body of each endpoint that OpenAI's batches have, besides chat. */
const bodies: Record<string, { model: string } & Record<string, unknown>> = {
  "/v1/responses": { model, input: "hello", max_output_tokens: 50 },
  "/v1/embeddings": { model: "openai/text-embedding-3-small", input: "hello" },
  "/v1/completions": { model: "openai/gpt-3.5-turbo-instruct", prompt: "hello", max_tokens: 50 },
  "/v1/moderations": { model: "openai/omni-moderation-latest", input: "hello" },
  "/v1/images/generations": { model: "openai/gpt-image-1-mini", prompt: "a cat", size: "1024x1024", quality: "low" },
};

test("a line whose tool the gateway runs is called here, beside those that its provider has", async () => {
  const { openai, token } = await newUser();
  rig.simulators.clear();
  const body = { model: "mistral/mistral-small-latest", input: "hello" };
  const lines = [body, { ...body, tools: [{ type: "web_search" }] }].map((each, index) =>
    JSON.stringify({ custom_id: `line-${index}`, method: "POST", url: "/v1/responses", body: each }),
  );
  const batch = await begin(openai, lines.join("\n"), { endpoint: "/v1/responses" });
  const done = await ended(openai, batch.id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 2, failed: 0 } });
  expect(created("mistral")).toMatchObject({ batches: 1 });
  const direct = rig.simulators.requests().filter(({ path }) => path.endsWith("/chat/completions"));
  expect(direct.length).toBeGreaterThan(0);
  expect((await recordsOf(token, batch.id)).length).toBeGreaterThanOrEqual(2);
});

test("the other endpoints of OpenAI's batches are run there, and answer as the same calls do", async () => {
  const { openai } = await newUser();
  rig.simulators.clear();
  const begun = Object.entries(bodies).map(async ([endpoint, body]) => {
    const line = `${JSON.stringify({ custom_id: "a", method: "POST", url: endpoint, body })}\n`;
    const batch = await begin(openai, line, { endpoint });
    const done = await ended(openai, batch.id);
    const [result] = [
      ...(await resultsOf(openai, done.output_file_id)),
      ...(await resultsOf(openai, done.error_file_id)),
    ];
    return [endpoint, done.status, result?.response?.status_code];
  });
  expect(await Promise.all(begun)).toEqual(Object.keys(bodies).map((endpoint) => [endpoint, "completed", 200]));
  expect(created("openai").batches).toBe(Object.keys(bodies).length);
});

test("the lines of a batch have the tags of the request that began it, native or not", async () => {
  const { gateway } = rig;
  const { openai, token } = await newUser({ organisation: "acme", credits: 0n, metadata: { team: "search" } });
  expect((await gateway.cli("organisation", "set", "acme", "--tags", "team,run")).stderr).toBe("");
  expect((await gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "10")).code).toBe(0);
  const input_file_id = await upload(openai, lineOf(model, "line-0"));
  for (const completion_window of ["24h", "2h"] as const) {
    const begun = { input_file_id, endpoint: chat, completion_window: completion_window as "24h" } as const;
    const batch = await openai.batches.create(begun, { headers: { "x-tollgate-tags": "run=one,other=1" } });
    expect((await ended(openai, batch.id)).request_counts).toMatchObject({ completed: 1 });
    expect((await recordsOf(token, batch.id)).map(({ tags }) => tags)).toEqual([{ run: "one", team: "search" }]);
  }
});
