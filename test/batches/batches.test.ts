/** Batches that the gateway runs itself, by the official SDKs, on both storages. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTokenStore } from "../../src/auth/index.ts";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  oneCredit,
  type ScriptedUpstream,
  sharedPostgres,
  sorted,
  spentBy,
  startScriptedUpstream,
  storageOn,
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
  upload,
} from "./batch-scene.ts";

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  let users = 0;
  beforeAll(async () => {
    upstream = startScriptedUpstream();
    gateway = await startBatchGateway(upstream, await storageOn(engine, postgres));
  });
  afterAll(async () => {
    await expectCleanAudit(gateway);
    await gateway.stop();
    await upstream.stop();
  });

  const newUser = async (credits?: bigint) => {
    users += 1;
    const user = `user-${users}`;
    return { user, ...(await clientsOf(gateway, { user, ...(credits !== undefined && { credits }) })) };
  };

  const get = async (token: string, path: string): Promise<Record<string, unknown>> =>
    (await (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${token}` } })).json()) as Record<
      string,
      unknown
    >;

  test("the batch of OpenAI's SDK: each line once in the results, charged once, a record under the batch", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai, user, token } = await newUser();
    const ids = idsUpTo(30);
    const batch = await begin(openai, linesOf(ids), { metadata: { of: "test" } });
    expect(batch).toMatchObject({ object: "batch", endpoint: chat, metadata: { of: "test" }, errors: null });
    const done = await ended(openai, batch.id);
    expect(done).toMatchObject({
      status: "completed",
      model: "openai/m",
      request_counts: { total: 30, completed: 30, failed: 0 },
      usage: { input_tokens: 90, output_tokens: 60, total_tokens: 150 },
    });
    expect(done.error_file_id ?? null).toBeNull();
    const results = await resultsOf(openai, done.output_file_id);
    expect(sorted(results.map(({ custom_id }) => custom_id))).toEqual(sorted(ids));
    for (const { custom_id, response } of results) {
      expect(response).toMatchObject({ status_code: 200, body: { choices: [{ message: { content: custom_id } }] } });
    }
    expect(await spentBy(gateway, user)).toBe(30n * oneCredit);
    const records = await get(token, `/v1/generations?parent_id=${batch.id}&limit=100`);
    expect(records["data"]).toHaveLength(30);
    expect((await openai.batches.list()).data.map(({ id }) => id)).toEqual([batch.id]);
    const files = await openai.files.list({ purpose: "batch_output" });
    expect(files.data.map(({ id }) => id)).toEqual([done.output_file_id ?? ""]);
    await openai.files.delete(done.output_file_id ?? "");
    expect((await openai.files.list({ purpose: "batch_output" })).data).toEqual([]);
  });

  test("the batch of Anthropic's SDK, translated", async () => {
    upstream.answerWith(({ body }) => (body.includes("bad") ? new Response("{}", { status: 400 }) : answerTo(body)));
    const { anthropic, user } = await newUser();
    const requests = ["a", "b", "bad"].map((custom_id) => ({
      custom_id,
      params: { model: "openai/m", max_tokens: 10, messages: [{ role: "user" as const, content: custom_id }] },
    }));
    const { id, processing_status } = await anthropic.messages.batches.create({ requests });
    expect(processing_status).toBe("in_progress");
    const done = await until("the batch has ended", async () => {
      const batch = await anthropic.messages.batches.retrieve(id);
      return batch.processing_status === "ended" && batch;
    });
    expect(done.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
    expect(done.results_url).toBe(`${gateway.url}/v1/messages/batches/${id}/results`);
    const results: Record<string, string> = {};
    for await (const { custom_id, result } of await anthropic.messages.batches.results(id)) {
      const content = result.type === "succeeded" ? result.message.content[0] : undefined;
      results[custom_id] = content?.type === "text" ? content.text : result.type;
    }
    expect(results).toEqual({ a: "a", b: "b", bad: "errored" });
    expect(await spentBy(gateway, user)).toBe(2n * oneCredit);
    expect((await anthropic.messages.batches.list()).data.map((batch) => batch.id)).toEqual([id]);
    expect(await anthropic.messages.batches.delete(id)).toEqual({ id, type: "message_batch_deleted" });
    expect((await anthropic.messages.batches.list()).data).toEqual([]);
  });

  test("a request of Messages over 4 MiB is refused by its number", async () => {
    const { anthropic } = await newUser();
    const message = { role: "user" as const, content: "b".repeat(1024 * 1024 - 2) };
    const requests = [1, 5].map((count) => ({
      custom_id: `${count}`,
      params: { model: "openai/m", max_tokens: 10, messages: Array.from({ length: count }, () => message) },
    }));
    const refused = await anthropic.messages.batches.create({ requests }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 422 });
    expect(String(refused)).toContain("requests.1");
  });

  test("a batch of 20,000 Messages, over lines of any layout, with the bounds of each request", async () => {
    const { anthropic, token } = await newUser();
    const requests = idsUpTo(20_000).map((custom_id) => ({
      custom_id,
      params: { model: "openai/m", max_tokens: 10, messages: [{ role: "user" as const, content: "é" }] },
    }));
    const post = (body: string) =>
      fetch(`${gateway.url}/v1/messages/batches`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body,
      });
    const { id, request_counts } = (await (await post(JSON.stringify({ requests }, null, 1))).json()) as {
      id: string;
      request_counts: { processing: number };
    };
    expect(request_counts.processing).toBe(20_000);
    await anthropic.messages.batches.cancel(id);
    const keys = Object.fromEntries(idsUpTo(70_000).map((key) => [key, 0]));
    for (const wrong of [{ ...requests[0], custom_id: "a b" }, { ...requests[0], params: { model: "m", keys } }, 3]) {
      const refused = await post(JSON.stringify({ requests: [requests[1], wrong] }));
      expect([refused.status, (await refused.text()).includes("requests.1")]).toEqual([422, true]);
    }
    for (const wrong of ["{}", '{"requests":[]}', '{"requests":3}', "[", '{"requests":[{"a":1}'])
      expect((await post(wrong)).status).toBe(422);
  });

  test("a provider that is busy slows a batch, and fails no line", async () => {
    let calls = 0;
    upstream.answerWith(({ body }) => {
      calls += 1;
      return calls % 4 === 0 ? new Response("{}", { status: 429, headers: { "retry-after": "0" } }) : answerTo(body);
    });
    const { openai } = await newUser();
    const done = await ended(openai, (await begin(openai, linesOf(idsUpTo(20)))).id);
    expect(done.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
  });

  test("credits for 100 of 1,000 lines: exactly 100 are called and charged", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai, user } = await newUser(100n * oneCredit);
    const done = await ended(openai, (await begin(openai, linesOf(idsUpTo(1_000)))).id);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 1_000, completed: 100, failed: 900 } });
    expect(upstream.requests).toHaveLength(100);
    expect(await spentBy(gateway, user)).toBe(100n * oneCredit);
    const errors = await resultsOf(openai, done.error_file_id);
    expect(errors).toHaveLength(900);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["insufficient_credits"]));
  });

  test("a file that is deleted while its batch is created: one of both is refused, and the other is whole", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai } = await newUser();
    for (let round = 0; round < 10; round += 1) {
      const input_file_id = await upload(openai, linesOf(["a"]));
      const creation = { input_file_id, endpoint: chat, completion_window: "24h" } as const;
      const [batch, deletion] = await Promise.allSettled([
        openai.batches.create(creation),
        openai.files.delete(input_file_id),
      ]);
      if (batch.status === "rejected") {
        expect(batch.reason).toMatchObject({ status: 404 });
        expect(deletion.status).toBe("fulfilled");
      } else {
        // The batch may have ended before its input was deleted.
        if (deletion.status === "rejected") expect(deletion.reason).toMatchObject({ status: 409 });
        expect((await ended(openai, batch.value.id)).request_counts).toMatchObject({ completed: 1 });
      }
    }
  });

  test("while more than 64 live calls are open, a batch has one line at a time", async () => {
    const live = Promise.withResolvers<void>();
    const { openai, token } = await newUser();
    let [open, most, calls] = [0, 0, 0];
    upstream.answerWith(async ({ body }) => {
      if (body.includes("live")) {
        calls += 1;
        await live.promise;
        return answerTo(body);
      }
      open += 1;
      most = Math.max(most, open);
      await Bun.sleep(10);
      open -= 1;
      return answerTo(body);
    });
    const body = JSON.stringify({ model: "openai/m", messages: [{ role: "user", content: "live" }], max_tokens: 10 });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answers = Array.from({ length: 70 }, () => fetch(gateway.url + chat, { method: "POST", headers, body }));
    await until("all live calls are open", () => calls === 70);
    const { id } = await begin(openai, linesOf(idsUpTo(20)));
    expect((await ended(openai, id)).request_counts).toMatchObject({ completed: 20 });
    expect(most).toBe(1);
    live.resolve();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    await ended(openai, (await begin(openai, linesOf(idsUpTo(40)))).id);
    expect(most).toBeGreaterThan(1);
  });

  /** Answers the first calls at once, and the others as slowly as a model does. */
  const answerSlowly = (): void =>
    upstream.answerWith(async ({ body }) => {
      if (upstream.requests.length > 4) await Bun.sleep(1_200);
      return answerTo(body);
    });

  test("a batch that is cancelled midway keeps the lines that were called", async () => {
    answerSlowly();
    const { openai, user } = await newUser();
    const { id } = await begin(openai, linesOf(idsUpTo(50)));
    await until("lines are called", () => upstream.requests.length > 4);
    expect(["cancelling", "cancelled"]).toContain((await openai.batches.cancel(id)).status);
    const done = await ended(openai, id);
    expect(done.status).toBe("cancelled");
    const called = upstream.requests.length;
    expect(called).toBeLessThan(50);
    expect(done.request_counts).toEqual({ total: 50, completed: called, failed: 0 });
    expect(await resultsOf(openai, done.output_file_id)).toHaveLength(called);
    expect(await spentBy(gateway, user)).toBe(BigInt(called) * oneCredit);
    const again: unknown = await openai.batches.cancel(id).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(again).toMatchObject({ status: 409, code: "batch_ended" });
  });

  test("a batch of Messages that is cancelled has the other lines as canceled", async () => {
    answerSlowly();
    const { anthropic, user } = await newUser();
    const { anthropic: mallory } = await newUser();
    const requests = idsUpTo(40).map((custom_id) => ({
      custom_id,
      params: { model: "openai/m", max_tokens: 10, messages: [{ role: "user" as const, content: custom_id }] },
    }));
    const { id } = await anthropic.messages.batches.create({ requests });
    await until("lines are called", () => upstream.requests.length > 4);
    for (const attempt of [
      () => mallory.messages.batches.cancel(id),
      () => mallory.messages.batches.retrieve(id),
      () => mallory.messages.batches.delete(id),
      () => mallory.messages.batches.list({ after_id: id }),
    ]) {
      const refused: unknown = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(refused).toMatchObject({ status: 404 });
    }
    expect((await anthropic.messages.batches.cancel(id)).processing_status).toBe("canceling");
    const done = await until("the batch has ended", async () => {
      const batch = await anthropic.messages.batches.retrieve(id);
      return batch.processing_status === "ended" && batch;
    });
    const { succeeded, canceled } = done.request_counts;
    expect(canceled).toBeGreaterThan(0);
    expect(succeeded + canceled).toBe(40);
    const ends: string[] = [];
    for await (const { result } of await anthropic.messages.batches.results(id)) ends.push(result.type);
    expect(ends.filter((type) => type === "canceled")).toHaveLength(canceled);
    expect(ends).toHaveLength(40);
    expect(await spentBy(gateway, user)).toBe(BigInt(succeeded) * oneCredit);
  });

  test("lines are calls of the other routes too, and have the tags of their batch's headers", async () => {
    upstream.answerWith(({ path, body }) =>
      path.endsWith("/embeddings")
        ? Response.json({
            object: "list",
            model: "m",
            data: [{ object: "embedding", index: 0, embedding: [0.5] }],
            usage: { prompt_tokens: 3, total_tokens: 3 },
          })
        : answerTo(body),
    );
    const { openai, user, token } = await newUser();
    for (const [endpoint, input] of [
      ["/v1/embeddings", { input: "a" }],
      ["/v1/responses", { input: "a" }],
    ] as const) {
      const line = { custom_id: "a", method: "POST", url: endpoint, body: { model: "openai/m", ...input } };
      const input_file_id = await upload(openai, JSON.stringify(line));
      const named = { input_file_id, endpoint, completion_window: "24h" as const };
      const { id } = await openai.batches.create(named, { headers: { "x-session-id": "night" } });
      const done = await ended(openai, id);
      expect([endpoint, done.request_counts]).toEqual([endpoint, { total: 1, completed: 1, failed: 0 }]);
      const records = await get(token, `/v1/generations?parent_id=${id}`);
      expect(records["data"]).toMatchObject([{ parent_id: id, session: "night" }]);
    }
    expect(await spentBy(gateway, user)).toBe(2n * oneCredit);
  });

  test("when the token is revoked, the remaining lines tell it, for nothing", async () => {
    answerSlowly();
    const { openai, user } = await newUser();
    const { id } = await begin(openai, linesOf(idsUpTo(50)));
    await until("lines are called", () => upstream.requests.length > 4);
    const tokens = openTokenStore(gateway.storage);
    const own = (await tokens.list()).find((token) => token.userName === user);
    await tokens.revoke(own?.id ?? "", Date.now());
    const { openai: other } = await clientsOf(gateway, { user });
    const done = await ended(other, id);
    const errors = await resultsOf(other, done.error_file_id);
    expect(errors.length).toBeGreaterThan(0);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["token_revoked"]));
    expect(done.request_counts).toEqual({ total: 50, completed: 50 - errors.length, failed: errors.length });
    expect(await spentBy(gateway, user)).toBe(BigInt(50 - errors.length) * oneCredit);
  });

  test.each([
    ["no JSON", "{\n", [{ code: "invalid_json_line", line: 1 }]],
    ["bad UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), [{ code: "invalid_json_line", line: 1 }]],
    ["nothing", "\n\n", [{ code: "empty_file", line: null }]],
    ["an id twice", linesOf(["a", "b", "a"]), [{ code: "duplicate_custom_id", line: 3 }]],
    ["no such model", linesOf(["a"]) + linesOf(["b"], "nobody/m"), [{ line: 2 }]],
    ["a line over 4 MiB", linesOf(["a", "b".repeat(4 * 1024 * 1024)]), [{ code: "line_too_long", line: 2 }]],
    ["another url", linesOf(["a"]).replace(chat, "/v1/embeddings"), [{ code: "invalid_url", line: 1 }]],
  ])("a file with %s makes its batch fail, for nothing", async (_, text, errors) => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai, user } = await newUser();
    const done = await ended(openai, (await begin(openai, text)).id);
    expect(done).toMatchObject({ status: "failed", errors: { data: errors } });
    expect(upstream.requests).toEqual([]);
    expect(await spentBy(gateway, user)).toBe(0n);
  });

  test("a batch of a browser's session has the rights of the token that the session began with", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const user = `session-${engine}`;
    const token = await gateway.token({ user, models: ["openai/other"] });
    const { url: origin } = gateway;
    const begun = await fetch(`${origin}/admin/v1/session`, {
      method: "POST",
      headers: { origin },
      body: JSON.stringify({ token }),
    });
    const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
    const { openai } = await clientsOf(gateway, { user });
    const input_file_id = await upload(openai, linesOf(["a"]));
    const made = await fetch(`${origin}/v1/batches`, {
      method: "POST",
      headers: { origin, cookie, "content-type": "application/json" },
      body: JSON.stringify({ input_file_id, endpoint: chat, completion_window: "24h" }),
    });
    const { id } = (await made.json()) as { id: string };
    expect(await ended(openai, id)).toMatchObject({ status: "failed", errors: { data: [{ line: 1 }] } });
    expect(upstream.requests).toEqual([]);
  });

  test("a limit of one call's cost is refused, since a batch has many", async () => {
    const { openai } = await newUser();
    const input_file_id = await upload(openai, linesOf(["a"]));
    const asked = { input_file_id, endpoint: chat, completion_window: "24h" } as const;
    const headers = { "x-tollgate-max-credits": "1" };
    const refused = await openai.batches.create(asked, { headers }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 422, param: "x-tollgate-max-credits" });
  });

  test("the call that is checked is the call that is made", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai } = await newUser();
    const [line = ""] = linesOf(["a"]).split("\n");
    const twice = line.replace('"body":', '"body":{"model":"openai/m","stream":true,"messages":[]},"body":');
    const done = await ended(openai, (await begin(openai, `${twice}\n`)).id);
    expect([done.status, upstream.requests.length]).toEqual(["completed", 1]);
    expect(JSON.stringify(upstream.requests)).not.toContain("stream");
    const deep = line.replace('"messages":[', `"messages":[${"[".repeat(60_000)}${"]".repeat(60_000)},`);
    expect(await ended(openai, (await begin(openai, `${deep}\n`)).id)).toMatchObject({
      status: "failed",
      errors: { data: [{ code: "invalid_json_line", line: 1 }] },
    });
  });

  test("nobody else finds a batch or its files", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const { openai } = await newUser();
    const { openai: mallory, anthropic, token } = await newUser();
    const input = await upload(openai, linesOf(["a"]));
    const { id } = await openai.batches.create({ input_file_id: input, endpoint: chat, completion_window: "24h" });
    const output = (await ended(openai, id)).output_file_id ?? "";
    const attempts = [
      () => mallory.batches.retrieve(id),
      () => mallory.batches.cancel(id),
      () => mallory.batches.list({ after: id }),
      () => mallory.batches.create({ input_file_id: input, endpoint: chat, completion_window: "24h" }),
      () => mallory.files.retrieve(input),
      () => mallory.files.content(output),
      () => mallory.files.delete(output),
      () => mallory.files.list({ purpose: "batch", after: input }),
      () => anthropic.messages.batches.retrieve(id),
      () => anthropic.messages.batches.delete(id),
    ];
    for (const attempt of attempts) {
      const error: unknown = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ status: 404 });
    }
    const records = await get(token, `/v1/generations?parent_id=${id}`);
    expect(records["data"]).toEqual([]);
  });
});
