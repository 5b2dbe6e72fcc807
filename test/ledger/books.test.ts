/** Callers' records of their calls, from real calls through a real gateway: they must agree with the charges. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Caller,
  engines,
  EventReader,
  expectRefusal,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  until,
  type Usage,
} from "../kit/index.ts";

interface Generation {
  id: string;
  usage: Record<string, number>;
  input_tokens: number;
  output_tokens: number;
  credits: number;
  latency_ms: number;
  time_to_first_token_ms: number | null;
  created_at: string;
}

interface UsageReport {
  data: Record<string, unknown>[];
  total: { requests: number; input_tokens: number; output_tokens: number; credits: number };
}

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "words:40" }],
  ...more,
});

const nano = (credits: number | string | null): bigint => BigInt(Math.round(Number(credits) * 1e9));

const generationPath = (answer: Response): string => `/v1/generations/${answer.headers.get("x-request-id")}`;

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig({
      ...(await storageOn(engine, postgres)),
      config: {
        upstream: { retries: 0 },
        pricing: {
          models: { "*": { input_mtok: 1, cache_read_mtok: 0.25, output_mtok: 2, output_reasoning_mtok: 5 } },
        },
      },
    });
  });
  afterAll(async () => {
    await rig.expectBalancedBooks();
    await rig.stop();
  });

  const get = (caller: Pick<Caller, "token">, path: string) =>
    fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${caller.token}` } });

  async function generationOf(caller: Caller, answer: Response): Promise<Generation> {
    const found = await get(caller, generationPath(answer));
    const body = await found.text();
    expect([found.status, body]).toEqual([200, body]);
    return JSON.parse(body) as Generation;
  }

  async function usageOf(caller: Pick<Caller, "token">, query = ""): Promise<UsageReport> {
    const answer = await get(caller, `/v1/usage${query}`);
    expect(answer.status).toBe(200);
    return (await answer.json()) as UsageReport;
  }

  describe("a call that was answered", () => {
    test("is reported with its charge, at once", async () => {
      const caller = await rig.caller();
      const began = Date.now();
      const answer = await caller.chat(chat("openai/gpt-4o-mini", { reasoning_effort: "high" }));
      const { usage } = (await answer.json()) as { usage: Usage };
      const generation = await generationOf(caller, answer);
      const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
      expect(generation).toMatchObject({
        object: "generation",
        id: answer.headers.get("x-request-id"),
        token_id: caller.token.slice(3, 15),
        model: "openai/gpt-4o-mini",
        provider: "openai",
        dialect: "chat",
        operation: "chat",
        streamed: false,
        status: 200,
        outcome: "complete",
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        credits: Number(answer.headers.get("x-tollgate-credits")),
      });
      expect(generation.usage["reasoning"]).toBe(reasoning);
      expect(generation.usage["output"]).toBe(usage.completion_tokens - reasoning);
      expect(await caller.closed()).toBe(nano(generation.credits));
      expect(generation.latency_ms).toBeGreaterThan(0);
      expect(Date.parse(generation.created_at)).toBeWithin(began - 1_000, Date.now() + 1_000);
    });

    test("has its model under the provider's own prefix, whichever alias was called", async () => {
      const caller = await rig.caller();
      const answer = await caller.chat(chat("claude/claude-haiku-4-5"));
      await answer.text();
      expect(await generationOf(caller, answer)).toMatchObject({
        model: "anthropic/claude-haiku-4-5",
        provider: "anthropic",
      });
    });

    test("as a stream contains its cost and its first token, as soon as its last event has come", async () => {
      const caller = await rig.caller();
      const answer = await caller.chat(chat("openai/gpt-4o-mini", { stream: true }));
      expect(await new EventReader(answer).rest()).toContain("data: [DONE]");
      const generation = await generationOf(caller, answer);
      expect(generation).toMatchObject({ streamed: true, outcome: "complete", status: 200, output_tokens: 40 });
      expect(generation.time_to_first_token_ms).toBeWithin(0, generation.latency_ms + 1);
      expect(await caller.closed()).toBe(nano(generation.credits));
      expect(nano(generation.credits)).toBe(BigInt(generation.input_tokens) * 1_000n + 40n * 2_000n);
    });
  });

  describe("a call that went wrong", () => {
    test("upstream is reported with the upstream's status, and free", async () => {
      const caller = await rig.caller();
      const answer = await caller.chat(chat("openai/x+status-400"));
      await answer.text();
      expect(await caller.closed()).toBe(0n);
      const generation = await generationOf(caller, answer);
      expect(generation).toMatchObject({
        status: 400,
        outcome: "failed",
        credits: 0,
        input_tokens: 0,
        output_tokens: 0,
      });
    });

    test("because its client disconnected contains the usage by then, and is absent before", async () => {
      const caller = await rig.caller();
      const leaving = new AbortController();
      const body = chat("openai/gpt-4o-mini+stall-5", { stream: true });
      const answer = await caller.chat(body, { signal: leaving.signal });
      const events = new EventReader(answer);
      for (let count = 0; count < 5; count += 1) await events.next();
      const early = await get(caller, generationPath(answer));
      expectRefusal(early, await early.text(), { status: 404, code: "generation_not_found" });
      leaving.abort();
      await until("the call has ended", async () => (await get(caller, generationPath(answer))).status === 200);
      const generation = await generationOf(caller, answer);
      expect(generation).toMatchObject({ outcome: "abandoned", streamed: true });
      expect(await caller.closed()).toBe(nano(generation.credits));
      expect(generation.credits).toBeGreaterThan(0);
    });

    test("before it was held for leaves nothing", async () => {
      const caller = await rig.caller();
      for (const body of [chat("nobody/x"), { model: "openai/gpt-4o-mini" }]) {
        const answer = await caller.chat(body);
        await answer.text();
        const found = await get(caller, generationPath(answer));
        expectRefusal(found, await found.text(), { status: 404, code: "generation_not_found" });
      }
      expect((await usageOf(caller)).total.requests).toBe(0);
    });
  });

  describe("usage", () => {
    test("adds up to the charges, by any grouping, and belongs to nobody else", async () => {
      const [caller, stranger] = await Promise.all([rig.caller(), rig.caller()]);
      const second = { token: await rig.gateway.token({ user: caller.user, credits: undefined }) };
      const models = ["openai/gpt-4o-mini", "mistral/mistral-small-latest", "openai/x+status-500"];
      for (const model of models) {
        await Promise.all(
          [false, true, false].map(async (stream) => {
            await (await caller.chat(chat(model, { stream }))).text();
          }),
        );
      }
      const spent = await caller.closed();
      expect(spent).toBeGreaterThan(0n);
      for (const by of ["day", "model", "token"]) {
        const report = await usageOf(second, `?group_by=${by}`);
        expect(report.total.requests).toBe(9);
        expect(nano(report.total.credits)).toBe(spent);
        const sum = report.data.reduce((credits, { credits: more }) => credits + nano(Number(more)), 0n);
        expect(sum).toBe(spent);
      }
      const named = (await usageOf(caller, "?group_by=model")).data.map(({ model, requests }) => [model, requests]);
      expect(new Map(named as [string, number][])).toEqual(new Map(models.map((model) => [model, 3])));
      expect((await usageOf(caller, "?group_by=token")).data).toMatchObject([
        { token_id: caller.token.slice(3, 15), requests: 9 },
      ]);
      expect(await usageOf(stranger)).toMatchObject({ data: [], total: { requests: 0, credits: 0 } });
      const hourAgo = Math.floor(Date.now() / 1000) - 3_600;
      expect((await usageOf(caller, `?from=${hourAgo}`)).total.requests).toBe(9);
      expect((await usageOf(caller, `?to=${hourAgo}`)).total.requests).toBe(0);
    });

    test("of an organisation is the same by API and command, and what its calls were charged", async () => {
      const team = { organisation: "acme", credits: undefined };
      const tokens: string[] = [];
      for (const user of ["ann", "ben", "ann"]) tokens.push(await rig.gateway.token({ user, ...team }));
      const granted = await rig.gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "10");
      expect(granted.code).toBe(0);
      const outsider = await rig.caller();
      const charged = await Promise.all(
        [...tokens, outsider.token].map(async (token) => {
          const body = JSON.stringify(chat("openai/gpt-4o-mini"));
          const headers = { authorization: `Bearer ${token}` };
          const paid = await fetch(`${rig.gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
          await paid.text();
          return nano(paid.headers.get("x-tollgate-credits"));
        }),
      );
      const owner = await rig.gateway.token({ user: "chief", role: "owner", credits: undefined });
      const asked = await get({ token: owner }, "/admin/v1/usage?group_by=user,model&organisation=acme&interval=week");
      const report = (await asked.json()) as UsageReport;
      const inTeam = charged.slice(0, 3).reduce((sum, each) => sum + each, 0n);
      expect([report.total.requests, nano(report.total.credits)]).toEqual([3, inTeam]);
      expect(report.data.map(({ user, model, requests }) => [user, model, requests])).toEqual([
        ["ann", "openai/gpt-4o-mini", 2],
        ["ben", "openai/gpt-4o-mini", 1],
      ]);
      const options = ["--by", "user,model", "--organisation", "acme", "--interval", "week", "--since", "1d", "--json"];
      const { stdout, code } = await rig.gateway.cli("usage", ...options);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ data: report.data, total: report.total });
    });

    test("of a service is visible to it, although it has no balance", async () => {
      const token = await rig.gateway.token({ user: "robot", service: true, credits: undefined });
      const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(chat("openai/gpt-4o-mini")),
      });
      await answer.text();
      const { total } = await usageOf({ token });
      expect([total.requests, nano(total.credits)]).toEqual([1, nano(answer.headers.get("x-tollgate-credits"))]);
    });
  });
});
