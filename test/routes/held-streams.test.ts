/** Streams of calls with several targets: when the head goes, how long a target may take, and which bytes wait. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { EventReader, type Rig, startRig, until } from "../kit/index.ts";
import {
  type Dialect,
  type FailingUpstream,
  goodAnswer,
  paths,
  requestIn,
  startFailingUpstream,
} from "./failing-upstream.ts";

let upstream: FailingUpstream;
let rig: Rig;
beforeAll(async () => {
  upstream = await startFailingUpstream();
  const openai = { kind: "openai", base_url: upstream.url, api_key: "k" };
  const anthropic = { kind: "anthropic", base_url: upstream.url, api_key: "k" };
  const route = (models: string[], own: object = {}): object => ({
    ...own,
    tiers: [models.map((model) => ({ model }))],
  });
  const early = { head_wait: "250ms" };
  rig = await startRig({
    providers: () => ({ one: openai, two: openai, "ant-one": anthropic, "ant-two": anthropic }),
    config: {
      upstream: { retries: 0, first_byte_timeout: "4s", idle_timeout: "4s" },
      pricing: { models: { "two/*": { input_mtok: 10, output_mtok: 20 }, "*": { input_mtok: 1, output_mtok: 2 } } },
      routing: {
        circuits: false,
        attempt_timeout: "1s",
        routes: {
          late: route(["one/silent", "two/good"], early),
          "late-messages": route(["ant-one/silent", "ant-two/good"], early),
          "late-content": route(["one/head-silence", "two/good"], early),
          "late-failure": route(["one/silent", "two/status-overloaded"], early),
          "late-failure-messages": route(["ant-one/silent", "ant-two/status-overloaded"], early),
          "late-silence": route(["one/silent", "two/silent"], { ...early, deadline: "2s" }),
          crawl: route(["one/content-silence", "two/good"], { commit: { chars: 20, within: "500ms" } }),
          short: route(["one/good", "two/good"], { commit: { chars: 2_000, within: "500ms" } }),
          begun: route(["one/content-silence", "two/good"]),
          alone: route(["one/head-silence"]),
          translated: route(["one/head-cut", "two/good"]),
        },
      },
    },
  });
});
beforeEach(() => void upstream.asked.splice(0));
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

interface Called {
  answer: Response;
  token: string;
  generation: () => Promise<Record<string, unknown>>;
}

async function call(dialect: Dialect, model: string, more: RequestInit & { token?: string } = {}): Promise<Called> {
  const { token = await rig.gateway.token({ user: crypto.randomUUID() }), headers = {}, ...init } = more;
  const answer = await fetch(rig.gateway.url + paths[dialect], {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...(headers as object) },
    body: JSON.stringify(requestIn(dialect, model, true)),
    ...init,
  });
  const id = answer.headers.get("x-request-id") ?? answer.headers.get("request-id") ?? "";
  const generation = async (): Promise<Record<string, unknown>> => {
    const own = await fetch(`${rig.gateway.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (await own.json()) as Record<string, unknown>;
  };
  return { answer, token, generation };
}

const withoutComments = (text: string): string => text.replaceAll(": keep-alive\n\n", "");

const targetOf = ({ headers }: Response): (string | null)[] =>
  ["provider", "model", "attempts"].map((name) => headers.get(`x-tollgate-${name}`));

describe("a head that would come too late", () => {
  const rows: [Dialect, string, string][] = [
    ["chat", "late", "two"],
    ["chat", "late-content", "two"],
    ["messages", "late-messages", "ant-two"],
    ["responses", "late", "two"],
  ];
  test.each(rows)("%s, %s: goes before the targets, and names none", async (dialect, model, provider) => {
    const { answer, generation } = await call(dialect, model);
    expect([answer.status, answer.headers.get("content-type"), targetOf(answer)]).toEqual([
      200,
      "text/event-stream",
      [null, null, null],
    ]);
    const text = await answer.text();
    expect(text).toStartWith(": keep-alive\n\n");
    expect(withoutComments(text)).toBe(goodAnswer(dialect, true));
    expect(await generation()).toMatchObject({ provider, outcome: "complete" });
  });

  test("leaves an event for the failure of all targets", async () => {
    const chat = await call("chat", "late-failure");
    const data: unknown = JSON.parse(withoutComments(await chat.answer.text()).replace(/^data: /, ""));
    expect(data).toMatchObject({ error: { message: "Busy" } });
    const responses = withoutComments(await (await call("responses", "late-failure")).answer.text());
    expect(responses).toMatch(/^event: error\ndata: \{"type":"error",.*"message":"Busy"/);
    const messages = withoutComments(await (await call("messages", "late-failure-messages")).answer.text());
    expect(messages).toMatch(
      /^event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"Busy"\}/,
    );
    expect(await chat.generation()).toMatchObject({ outcome: "failed", credits: 0 });
  });

  test("leaves an event for an error of the gateway", async () => {
    const { answer, generation } = await call("chat", "late-silence");
    expect(withoutComments(await answer.text())).toContain(`"code":"upstream_timeout"`);
    expect(await generation()).toMatchObject({ outcome: "failed", credits: 0 });
  });

  test("a client that leaves meanwhile ends the call, and pays the input that was sent", async () => {
    const leaving = new AbortController();
    const left = await call("chat", "late", { signal: leaving.signal });
    leaving.abort();
    await until("the call has ended", async () => (await left.generation())["outcome"] === "abandoned");
    expect(upstream.asked).toEqual(["silent"]);
    expect((await left.generation())["credits"]).toBeGreaterThan(0);
  });

  test("with a retry key, it is answered to its end all the same", async () => {
    const leaving = new AbortController();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const left = await call("chat", "late", { signal: leaving.signal, headers });
    leaving.abort();
    await until("the call has ended", async () => (await left.generation())["outcome"] === "complete");
    const again = await call("chat", "late", { token: left.token, headers });
    expect([again.answer.headers.get("idempotent-replayed"), await again.answer.text()]).toEqual([
      "true",
      goodAnswer("chat", true),
    ]);
    expect(upstream.asked).toEqual(["silent", "good"]);
  });
});

describe("a stream that crawls", () => {
  test("is given up for the next target", async () => {
    const { answer, generation } = await call("chat", "crawl");
    expect([await answer.text(), targetOf(answer)]).toEqual([goodAnswer("chat", true), ["two", "two/good", "2"]]);
    expect((await generation())["credits"]).toBe(0.000_2);
  });

  test("is not one that ends early", async () => {
    const { answer } = await call("chat", "short");
    expect([await answer.text(), targetOf(answer)]).toEqual([goodAnswer("chat", true), ["one", "one/good", "1"]]);
  });
});

test("once its content has begun, a stream ends as with one target", async () => {
  const { answer, generation } = await call("chat", "begun");
  const text = await answer.text();
  expect(text).toContain("Hello");
  expect(text).toContain(`"code":"upstream_timeout"`);
  expect([targetOf(answer), upstream.asked]).toEqual([["one", "one/content-silence", "1"], ["content-silence"]]);
  expect((await generation())["outcome"]).toBe("interrupted");
});

test("a route's last target is not held: its bytes pass as they come", async () => {
  const { answer } = await call("chat", "alone");
  const reader = new EventReader(answer);
  expect(await reader.next()).toContain("ping");
  await reader.cancel();
});

test("a client of another dialect gets the translated answer of the target that answered", async () => {
  const { answer } = await call("messages", "translated");
  const text = await answer.text();
  expect(text).toContain(`"text":"Hello"`);
  expect([text.match(/event: message_start/g)?.length, targetOf(answer)]).toEqual([1, ["two", "two/good", "2"]]);
});
