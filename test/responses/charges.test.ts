/** The cost of calls of Messages and Responses, however they end: relayed or translated, whole or streamed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type Caller,
  chatModels,
  eachProvider,
  EventReader,
  messagesPath,
  query,
  responseIn,
  responsesPath,
  type Rig,
  startRig,
  type Talker,
  talker,
  until,
} from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const routes = ["messages", "responses"] as const;
type Route = (typeof routes)[number];

const paths: Readonly<Record<Route, string>> = { messages: messagesPath, responses: responsesPath };

/** The same call on each route. */
function bodyOf(route: Route, model: string, said: string, more: object = {}): object {
  return route === "messages"
    ? { model, max_tokens: 500, messages: [{ role: "user", content: said }], ...more }
    : { model, input: said, ...more };
}

async function talkingCaller(): Promise<Caller & Talker> {
  const caller = await rig.caller();
  return { ...caller, ...talker(rig.gateway.url, caller.token) };
}

/** The gateway's record of a call, once it has ended. */
function generationOf(caller: Talker, answer: { headers: Headers }): Promise<Record<string, unknown>> {
  const id = answer.headers.get("x-request-id");
  return until("the call has ended", async () => {
    const { status, json } = await caller.ask(`/v1/generations/${id}`);
    return status === 200 && (json as Record<string, unknown>);
  });
}

const nanoOf = (credits: unknown): bigint => BigInt(Math.round(Number(credits) * 1e9));

describe.each(routes)("%s", (route) => {
  test("cost the amount of their generation at any provider, whole and streamed alike, and record the operation", () =>
    eachProvider(async (provider, model) => {
      for (const stream of [false, true]) {
        const caller = await talkingCaller();
        const answer = await caller.ask(paths[route], { body: bodyOf(route, model, "words:30", { stream }) });
        expect([provider, answer.status]).toEqual([provider, 200]);
        const generation = await generationOf(caller, answer);
        expect(generation).toMatchObject({
          operation: route,
          dialect: route,
          provider,
          model,
          streamed: stream,
          status: 200,
          outcome: "complete",
        });
        const spent = await caller.closed();
        expect(nanoOf(generation["credits"])).toBe(spent);
        const [input, output] = [Number(generation["input_tokens"]), Number(generation["output_tokens"])];
        expect([input > 0, output]).toEqual([true, 30]);
        // xAI names its own price.
        if (provider !== "xai") expect(spent).toBe(BigInt(input) * 1_000n + BigInt(output) * 2_000n);
        if (!stream) expect(nanoOf(answer.headers.get("x-tollgate-credits"))).toBe(spent);
      }
    }));

  test(
    "that fail are released: by the upstream's refusal, before a stream's first word, under a success status",
    () =>
      eachProvider(async (provider, model) => {
        const caller = await talkingCaller();
        for (const fault of [
          "status-400",
          "status-429",
          "status-500",
          "html-502",
          "connect-reset",
          "error-200",
          "empty",
        ]) {
          for (const stream of [false, true]) {
            const faulty = bodyOf(route, `${model}+${fault}`, "hi", { stream });
            const answer = await caller.ask(paths[route], { body: faulty });
            const free = [provider, fault, stream, await caller.closed()];
            expect(free).toEqual([provider, fault, stream, 0n]);
            const generation = await generationOf(caller, answer);
            expect([generation["operation"], generation["dialect"], generation["credits"]]).toEqual([route, route, 0]);
            expect(["failed", "interrupted"]).toContain(String(generation["outcome"]));
          }
        }
      }),
    20_000,
  );

  test("whose client disconnects from a stream are charged once, for the usage observed until then", () =>
    eachProvider(async (provider, model) => {
      const full = await talkingCaller();
      await full.ask(paths[route], { body: bodyOf(route, model, "words:40", { stream: true }) });
      const wholePrice = await full.closed();

      const caller = await talkingCaller();
      const body = bodyOf(route, `${model}+stall-12`, "words:40", { stream: true });
      const answer = await caller.send(paths[route], { body });
      const reader = new EventReader(answer);
      for (let event = await reader.next(); !/"delta":|text_delta/.test(event ?? ""); event = await reader.next()) {
        if (event === undefined) throw new Error(`${provider}: no word came`);
      }
      expect((await caller.books()).held).toBeGreaterThan(0n);
      await reader.cancel();
      const generation = await generationOf(caller, answer);
      expect([provider, generation["outcome"], generation["streamed"]]).toEqual([provider, "abandoned", true]);
      const spent = await caller.closed();
      expect(nanoOf(generation["credits"])).toBe(spent);
      expect([provider, spent > 0n, spent < wholePrice]).toEqual([provider, true, true]);
      await until("the upstream is left", () =>
        rig.simulators.requests().some((one) => one.provider === provider && one.outcome === "aborted"),
      );
    }));

  test("whose upstream breaks off or fails in a stream are charged for the received part, and report it in their own dialect", () =>
    eachProvider(async (provider, model) => {
      for (const fault of ["cut-9", "error-9"]) {
        const caller = await talkingCaller();
        const body = bodyOf(route, `${model}+${fault}`, "words:40", { stream: true });
        const answer = await caller.ask(paths[route], { body });
        expect([provider, fault, answer.status]).toEqual([provider, fault, 200]);
        expect(answer.text).toMatch(route === "messages" ? /event: error\n/ : /event: (?:error|response\.failed)\n/);
        expect(answer.text).not.toMatch(/event: (?:message_stop|response\.completed)\n/);
        const generation = await generationOf(caller, answer);
        expect([provider, generation["outcome"]]).toEqual([provider, fault === "cut-9" ? "interrupted" : "failed"]);
        expect(nanoOf(generation["credits"])).toBe(await caller.closed());
      }
    }));

  describe("with a retry key", () => {
    const headers = { "idempotency-key": "the same" };

    test.each([chatModels["openai"], chatModels["anthropic"], chatModels["deepseek"]])(
      "%s: are answered once, charged once, and given again byte by byte",
      async (model = "") => {
        for (const stream of [false, true]) {
          const caller = await talkingCaller();
          const body = bodyOf(route, model, "words:20", { stream });
          const first = await caller.ask(paths[route], { body, headers });
          const price = await caller.closed();
          rig.simulators.clear();
          const again = await caller.ask(paths[route], { body, headers });
          expect([again.status, again.text]).toEqual([200, first.text]);
          expect(again.headers.get("idempotent-replayed")).toBe("true");
          expect(again.headers.get("x-tollgate-first-request-id")).toBe(first.headers.get("x-request-id"));
          expect(rig.simulators.total()).toBe(0);
          expect([price > 0n, await caller.closed()]).toEqual([true, price]);
        }
      },
    );
  });
});

test("a round of a conversation with a retry key is made once, however it is continued", async () => {
  for (const model of ["deepseek/deepseek-chat", "openai/gpt-4o-mini"]) {
    const caller = await talkingCaller();
    const first = responseIn(await caller.ask(responsesPath, { body: { model, input: "one" } }));
    const body = { model, input: "two", previous_response_id: first.id };
    const headers = { "idempotency-key": "round two" };
    const second = responseIn(await caller.ask(responsesPath, { body, headers }));
    const price = await caller.closed();
    const again = await caller.ask(responsesPath, { body, headers });
    expect(responseIn(again)).toEqual(second);
    expect(await caller.closed()).toBe(price);
    expect(responseIn(await caller.ask(`${responsesPath}/${second.id}`)).output).toEqual(second.output);
    const other = await caller.ask(responsesPath, { body: { ...body, input: "three" }, headers });
    expect([other.status, other.text]).toEqual([409, expect.stringContaining("idempotency_key_reused") as string]);
    const rows = await query(rig.gateway.storage, `SELECT id FROM responses WHERE owner = '${caller.user}'`);
    expect(rows).toHaveLength(2);
  }
});

test("looking up, listing and removing a response, and counting tokens, costs nothing", async () => {
  for (const model of ["deepseek/deepseek-chat", "openai/gpt-4o-mini"]) {
    const caller = await talkingCaller();
    const { id } = responseIn(await caller.ask(responsesPath, { body: { model, input: "one" } }));
    const price = await caller.closed();
    for (const [path, method] of [
      ["", "GET"],
      ["/input_items", "GET"],
      ["", "DELETE"],
    ] as const) {
      expect((await caller.ask(`${responsesPath}/${id}${path}`, { method })).status).toBe(200);
    }
    const counted = { model: "anthropic/claude-haiku-4-5", messages: [{ role: "user", content: "hi" }] };
    for (const body of [counted, { ...counted, model }]) {
      const { status, json } = await caller.ask(`${messagesPath}/count_tokens`, { body });
      expect([status, json]).toEqual([200, { input_tokens: expect.any(Number) as number }]);
    }
    expect(await caller.closed()).toBe(price);
  }
});

test("a native event of more than a mebibyte is the end of the stream like any other", async () => {
  const caller = await talkingCaller();
  const body = { model: "openai/gpt-4o-mini+huge-3", input: "hi", stream: true, store: false };
  const answer = await caller.ask(responsesPath, { body });
  expect(answer.text.length).toBeGreaterThan(3 * 1024 * 1024);
  expect(answer.text).toEndWith("data: [DONE]\n\n");
  expect(await generationOf(caller, answer)).toMatchObject({ outcome: "complete" });
});
