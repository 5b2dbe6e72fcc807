/**
 * Every class of failure, in three dialects, whole and streamed, before and after the first content, with one target and with
 * two: who is asked, the client's answer, and its price.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Rig, startRig, until } from "../kit/index.ts";
import {
  type Dialect,
  type FailingUpstream,
  goodAnswer,
  paths,
  refusalIn,
  requestIn,
  startFailingUpstream,
} from "./failing-upstream.ts";

const dialects = ["chat", "messages", "responses"] as const;

/** Failures after which the next target answers. */
const moving = [
  "status-broken",
  "status-overloaded",
  "status-rate_limited",
  "status-key_refused",
  "status-quota_gone",
  "status-model_gone",
  "status-context_window",
  "silent",
  "gone",
];
const movingWhole = [...moving, "whole-cut", "whole-junk"];
const movingStreams = [...moving, "head-cut", "head-silence", "head-busy"];

/** Failures that the client sees as with one target. */
const staying = ["status-content_policy", "status-request"];
const stayingStreams = [...staying, "head-invalid", "content-cut", "content-busy", "content-invalid"];

const rows = dialects.flatMap((dialect) => [
  ...movingWhole.map((name) => ({ dialect, name, stream: false, moves: true })),
  ...movingStreams.map((name) => ({ dialect, name, stream: true, moves: true })),
  ...staying.map((name) => ({ dialect, name, stream: false, moves: false })),
  ...stayingStreams.map((name) => ({ dialect, name, stream: true, moves: false })),
]);

const names = [...new Set([...movingWhole, ...movingStreams, ...stayingStreams, "content-silence"])];

/** One provider a dialect, twice: the first one fails, the second one costs ten times as much. */
const first: Readonly<Record<Dialect, string>> = { chat: "one", messages: "ant-one", responses: "one" };
const second: Readonly<Record<Dialect, string>> = { chat: "two", messages: "ant-two", responses: "two" };

const modelOf = (dialect: Dialect, name: string): string =>
  name === "gone" ? `gone-${first[dialect]}/m` : `${first[dialect]}/${name}`;

let upstream: FailingUpstream;
let rig: Rig;
let token: string;
beforeAll(async () => {
  upstream = await startFailingUpstream();
  const openai = { kind: "openai", base_url: upstream.url, api_key: "k" };
  const anthropic = { kind: "anthropic", base_url: upstream.url, api_key: "k" };
  const nowhere = "http://127.0.0.1:9/v1";
  const routes = dialects.flatMap((dialect) =>
    names.map((name) => ({
      [`${dialect}-${name}`]: {
        tiers: [[{ model: modelOf(dialect, name) }, { model: `${second[dialect]}/good` }]],
      },
    })),
  );
  const refusing = dialects.map((dialect) => {
    const route = (last: string, on?: string[]): object => ({
      tiers: [[{ model: `${first[dialect]}/refusal` }, { model: `${second[dialect]}/${last}`, ...(on && { on }) }]],
    });
    return {
      [`${dialect}-refused`]: route("good", ["content_policy"]),
      [`${dialect}-refused-kept`]: route("good"),
      [`${dialect}-refused-twice`]: route("status-overloaded", ["content_policy"]),
    };
  });
  rig = await startRig({
    providers: () => ({
      one: openai,
      two: openai,
      "gone-one": { ...openai, base_url: nowhere },
      "ant-one": anthropic,
      "ant-two": anthropic,
      "gone-ant-one": { ...anthropic, base_url: nowhere },
    }),
    config: {
      upstream: { retries: 0, first_byte_timeout: "4s", idle_timeout: "4s" },
      pricing: {
        models: {
          "two/*": { input_mtok: 10, output_mtok: 20 },
          "ant-two/*": { input_mtok: 10, output_mtok: 20 },
          "*": { input_mtok: 1, output_mtok: 2 },
        },
      },
      routing: {
        circuits: false,
        attempt_timeout: "1s",
        whole_timeout: "1s",
        routes: Object.assign({}, ...routes, ...refusing) as object,
      },
    },
  });
  token = await rig.gateway.token({ user: "caller" });
});
beforeEach(() => void upstream.asked.splice(0));
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

async function call(dialect: Dialect, model: string, stream: boolean) {
  const answer = await fetch(rig.gateway.url + paths[dialect], {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(requestIn(dialect, model, stream)),
  });
  const text = await answer.text();
  const id = answer.headers.get("x-request-id") ?? answer.headers.get("request-id") ?? "";
  const own = await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers: { authorization: `Bearer ${token}` } });
  const { credits, outcome } = (await own.json()) as { credits: number; outcome: string };
  const [provider, attempts] = ["provider", "attempts"].map((name) => answer.headers.get(`x-tollgate-${name}`));
  return { status: answer.status, text: text.replaceAll(id, "ID"), credits, outcome, provider, attempts };
}

/** Of 10 tokens in and 5 out. */
const firstPrice = 0.000_02;
const secondPrice = 0.000_2;

describe("the next target answers", () => {
  test.concurrent.each(
    rows
      .filter(({ moves }) => moves)
      .map((row) => [`${row.dialect} ${row.name}, streamed: ${row.stream}`, row] as const),
  )("%s", async (_, { dialect, name, stream }) => {
    const answer = await call(dialect, `${dialect}-${name}`, stream);
    expect(answer).toEqual({
      status: 200,
      text: goodAnswer(dialect, stream),
      credits: secondPrice,
      outcome: "complete",
      provider: second[dialect],
      attempts: "2",
    });
  });
});

describe("with one target, the same failures reach the client", () => {
  test.concurrent.each(
    rows
      .filter(({ moves }) => moves)
      .map((row) => [`${row.dialect} ${row.name}, streamed: ${row.stream}`, row] as const),
  )("%s", async (_, { dialect, name, stream }) => {
    const answer = await call(dialect, modelOf(dialect, name), stream);
    expect(answer).toMatchObject({ provider: modelOf(dialect, name).split("/")[0], attempts: "1" });
    expect(answer.outcome).not.toBe("complete");
    // A head that has passed leaves only an event.
    expect(answer.status).toBeOneOf(name.startsWith("head") ? [200] : [400, 401, 402, 403, 404, 429, 500, 502, 503]);
    expect(answer.text).toContain("error");
    expect(answer.credits).toBeLessThanOrEqual(name.startsWith("head") ? firstPrice : 0);
  });
});

describe("the client sees the failure as with one target", () => {
  test.concurrent.each(dialects)("%s, after silence within the content", async (dialect) => {
    const answer = await call(dialect, `${dialect}-content-silence`, true);
    expect(answer).toMatchObject({ status: 200, attempts: "1", provider: first[dialect], outcome: "interrupted" });
    expect(answer.text).toMatch(/Hello[^]*error/);
    expect(answer.credits).toBeGreaterThan(0);
  });

  test.each(
    rows
      .filter(({ moves }) => !moves)
      .map((row) => [`${row.dialect} ${row.name}, streamed: ${row.stream}`, row] as const),
  )("%s", async (_, { dialect, name, stream }) => {
    const routed = await call(dialect, `${dialect}-${name}`, stream);
    const models = [...upstream.asked];
    const alone = await call(dialect, modelOf(dialect, name), stream);
    expect(routed).toEqual(alone);
    expect([routed.attempts, models]).toEqual(["1", [name]]);
    const isCharged = name === "content-cut";
    expect([isCharged, routed.credits > 0]).toEqual([isCharged, isCharged]);
    if (name.startsWith("content")) expect(routed.text).toContain("Hello");
  });
});

describe("a refusal with a status of success", () => {
  const cases = dialects.flatMap((dialect) => [false, true].map((stream): [Dialect, boolean] => [dialect, stream]));

  test.each(cases)("%s, streamed: %p: moves only to a target that is for it", async (dialect, stream) => {
    const moved = await call(dialect, `${dialect}-refused`, stream);
    expect(moved).toMatchObject({
      status: 200,
      text: goodAnswer(dialect, stream),
      credits: secondPrice,
      attempts: "2",
    });
    const kept = await call(dialect, `${dialect}-refused-kept`, stream);
    expect(kept).toMatchObject({ status: 200, text: refusalIn(dialect, stream), credits: firstPrice, attempts: "1" });
  });

  test.each(cases)(
    "%s, streamed: %p: is the answer when the others fail, at its own price",
    async (dialect, stream) => {
      const answer = await call(dialect, `${dialect}-refused-twice`, stream);
      expect(upstream.asked).toEqual(["refusal", "status-overloaded"]);
      expect(answer).toMatchObject({
        status: 200,
        text: refusalIn(dialect, stream),
        credits: firstPrice,
        provider: first[dialect],
        attempts: "2",
      });
    },
  );
});

describe("the record of a call", () => {
  const generationOf = async (model: string, stream: boolean): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify(requestIn("chat", model, stream));
    const answer = await fetch(rig.gateway.url + paths.chat, { method: "POST", headers, body });
    await answer.text();
    const id = answer.headers.get("x-request-id");
    return (await (await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers })).json()) as Record<
      string,
      unknown
    >;
  };
  const failed = { number: 1, provider: "one", upstream_request_id: "theirs" };
  const answered = { number: 2, provider: "two", model: "two/good", class: null, status: 200, unbilled: null };

  test("has its route, and each of its requests", async () => {
    expect(await generationOf("chat-status-overloaded", false)).toMatchObject({
      route: "chat-status-overloaded",
      model: "two/good",
      upstream_request_id: "theirs",
      attempts: [
        {
          ...failed,
          model: "one/status-overloaded",
          class: "overloaded",
          status: 503,
          codes: ["busy", "error"],
          unbilled: null,
        },
        { ...answered, upstream_request_id: "theirs" },
      ],
    });
  });

  test("has the estimated price of an answer that was lost after it had begun", async () => {
    const { attempts } = (await generationOf("chat-head-cut", true)) as { attempts: Record<string, unknown>[] };
    expect(attempts).toMatchObject([{ ...failed, class: "no_content", status: 200 }, answered]);
    expect(attempts[0]?.["unbilled"]).toBeGreaterThan(0);
  });

  test("has its only request if it has failed", async () => {
    const alone = await generationOf("one/status-rate_limited", false);
    expect(alone).toMatchObject({ outcome: "failed", attempts: [{ ...failed, class: "rate_limited", status: 429 }] });
    expect(alone).not.toHaveProperty("route");
  });

  test("has no list of a call whose first request was answered", async () => {
    const plain = await generationOf("one/good", false);
    expect(plain).toMatchObject({ upstream_request_id: "theirs" });
    expect(Object.keys(plain)).not.toContain("attempts");
  });
});

test("the log names the class of each failure, also of an answer that had begun", async () => {
  await call("chat", "chat-head-cut", true);
  await call("chat", "chat-head-busy", true);
  await call("messages", "messages-whole-cut", false);
  const classes = (): unknown[] =>
    rig.gateway.logLines().flatMap(({ msg, failure }) => (msg === "attempt failed" ? [failure] : []));
  await until("the log has the classes", () => {
    return JSON.stringify(classes().slice(-3)) === JSON.stringify(["no_content", "overloaded", "no_content"]);
  });
});
