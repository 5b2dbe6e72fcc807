import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatModels, chatPath, type Rig, simulatedKey, sorted, startRig, until } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const hello = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: "Hello!" }],
  max_tokens: 500,
  ...more,
});

/** Names of the headers of an answer. */
const namesOf = (headers: Headers): string[] => [...headers.keys()];

/** A provider's id of the call, under whichever name it has. */
const upstreamId = (headers: Headers): string | null => headers.get("x-request-id") ?? headers.get("request-id");

describe("towards the client", () => {
  test.each(Object.entries(chatModels))(
    "%s: the upstream's account stays hidden, its request id is passed on",
    async (provider, modelId) => {
      const caller = await rig.caller();
      for (const stream of [false, true]) {
        const relayed = await caller.chat(hello(modelId, { stream }));
        const direct = await rig.direct(provider, hello(modelId.slice(modelId.indexOf("/") + 1), { stream }));
        await Promise.all([relayed.text(), direct.text()]);
        const hidden = namesOf(relayed.headers).filter((name) =>
          /cookie|organization|ratelimit|^server|^via|^cf-|^anthropic-|project/.test(name),
        );
        expect(hidden).toEqual([]);
        expect(relayed.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{20,}$/);
        expect(relayed.headers.has("x-upstream-request-id")).toBe(upstreamId(direct.headers) !== null);
        expect(relayed.headers.get("x-request-id")).not.toBe(relayed.headers.get("x-upstream-request-id"));
      }
    },
  );

  test("the simulators send the hidden headers", async () => {
    const direct = await rig.direct("openai", hello("gpt-4o-mini"));
    await direct.text();
    for (const name of ["set-cookie", "openai-organization", "x-ratelimit-limit-requests"]) {
      expect(namesOf(direct.headers)).toContain(name);
    }
  });

  test("the upstream's request id is that of its answer", async () => {
    // The same bytes get the same id from a simulator; the model name is all that the gateway changes.
    const caller = await rig.caller();
    const relayed = await caller.chat(hello("openai/gpt-4o-mini"));
    const direct = await rig.direct("openai", hello("gpt-4o-mini"));
    await Promise.all([relayed.text(), direct.text()]);
    expect(relayed.headers.get("x-upstream-request-id")).toBe(direct.headers.get("x-request-id"));
    expect(relayed.headers.get("openai-processing-ms")).toBe(direct.headers.get("openai-processing-ms"));
  });

  test.each([429, 503])("the retry-after of a %d passes", async (status) => {
    const caller = await rig.caller();
    const relayed = await caller.chat(hello(`openai/gpt-4o-mini+status-${status}+retry-after-17`));
    expect(relayed.status).toBe(status);
    expect(relayed.headers.get("retry-after")).toBe("17");
    await relayed.text();
  });

  test("a stream is marked as such and not to be buffered or cached", async () => {
    const caller = await rig.caller();
    const { headers, body } = await caller.chat(hello("xai/grok-4", { stream: true }));
    await body?.cancel();
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.has("content-length")).toBe(false);
    await caller.closed();
  });

  test("every answer has its own request id, refusals included, and the log names it", async () => {
    const caller = await rig.caller();
    const answers = await Promise.all([
      caller.chat(hello("openai/gpt-4o-mini")),
      caller.chat(hello("nowhere/model")),
      caller.chat("{"),
      fetch(rig.gateway.url + chatPath, { method: "POST", body: "{}" }),
      fetch(`${rig.gateway.url}/v1/nothing`),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 404, 422, 401, 404]);
    const ids = answers.map((answer) => answer.headers.get("x-request-id"));
    expect(new Set(ids).size).toBe(ids.length);
    const logged = await waitForLog(ids.length, (line) => ids.includes(String(line["request_id"])));
    expect(sorted(logged.map((line) => String(line["status"])))).toEqual(["200", "401", "404", "404", "422"]);
  });
});

test("the line of a call has the ids that its caller and its upstream gave it, and the class of its failure", async () => {
  const caller = await rig.caller();
  const call = async (model: string, id: string): Promise<Record<string, unknown>[]> => {
    const answer = await caller.chat(hello(model), { headers: { "x-client-request-id": id } });
    await answer.text();
    const own = answer.headers.get("x-request-id");
    await waitForLog(1, (line) => line["request_id"] === own && line["msg"] === "call");
    return rig.gateway.logLines().filter((line) => line["request_id"] === own);
  };
  const [good] = await call("openai/gpt-4o-mini", "theirs-1");
  expect(good).toMatchObject({ client_request_id: "theirs-1", outcome: "complete" });
  expect(good?.["upstream_request_id"]).toMatch(/^req_/);
  expect(good).not.toHaveProperty("class");
  const failed = await call("openai/gpt-4o-mini+status-503", "theirs-2");
  const [attempt, end] = failed;
  expect(failed).toHaveLength(2);
  expect(attempt).toMatchObject({ msg: "attempt failed", failure: "overloaded" });
  expect(attempt?.["upstream_request_id"]).toMatch(/^req_/);
  expect(end).toMatchObject({ client_request_id: "theirs-2", outcome: "failed", class: "overloaded" });
  // One that is too long, as nobody's own would be, is left out.
  const [long] = await call("openai/gpt-4o-mini", "x".repeat(129));
  expect(long).not.toHaveProperty("client_request_id");
});

describe("towards the upstream", () => {
  const sent = {
    cookie: "session=secret-cookie",
    "user-agent": "curious/9",
    "x-stainless-lang": "js",
    "x-stainless-retry-count": "0",
    "x-forwarded-for": "203.0.113.9",
    "x-real-ip": "203.0.113.9",
    referer: "https://app.example/",
    origin: "https://app.example",
    "openai-organization": "org-callers",
    "openai-project": "proj-callers",
    "x-api-key": "overwritten below",
    "idempotency-key": "once",
    "x-tollgate-tags": "team=search",
    "x-tollgate-session": "s-1",
    "x-tollgate-end-user": "u-1",
    "x-tollgate-max-credits": "1",
    "x-litellm-tags": "team:search",
    "x-litellm-session-id": "s-1",
    "x-litellm-end-user-id": "u-1",
    "accept-encoding": "gzip, br",
    "accept-language": "tlh",
    "x-sim-fault": "status-500",
    "openai-beta": "assistants=v2",
    "x-client-request-id": "callers-own-id",
  };

  test.each(Object.entries(chatModels))("%s: nothing of the caller's own reaches it", async (_provider, modelId) => {
    const caller = await rig.caller();
    rig.simulators.clear();
    const answer = await caller.chat(hello(modelId), { headers: { ...sent, "x-api-key": caller.token } });
    await answer.text();
    // x-sim-fault would have made this a 500: it is for the sandbox only.
    expect(answer.status).toBe(200);
    const [request] = rig.simulators.requests();
    const { headers = {} } = request ?? {};
    expect(headers["authorization"]).toBe(`Bearer ${simulatedKey}`);
    expect(headers["user-agent"]).toStartWith("tollgate/");
    expect(headers["accept-encoding"]).toBe("identity");
    expect(headers["accept"]).toBe("application/json");
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["openai-beta"]).toBe("assistants=v2");
    expect(headers["x-client-request-id"]).toBe("callers-own-id");
    expect(headers["host"]).toBe(new URL(rig.simulators.url).host);
    const allowed = new Set([
      "accept",
      "accept-encoding",
      "authorization",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
      "openai-beta",
      "x-client-request-id",
      "x-api-key",
      "anthropic-version",
      "x-goog-api-key",
    ]);
    expect(Object.keys(headers).filter((name) => !allowed.has(name))).toEqual([]);
    expect(JSON.stringify(request)).not.toContain(caller.token);
    expect(JSON.stringify(headers)).not.toContain("secret-cookie");
  });

  test("a stream is asked for as one", async () => {
    const caller = await rig.caller();
    rig.simulators.clear();
    await (await caller.chat(hello("openai/gpt-4o-mini", { stream: true }))).text();
    expect(rig.simulators.requests()[0]?.headers["accept"]).toBe("text/event-stream");
  });
});

function waitForLog(count: number, wanted: (line: Record<string, unknown>) => boolean) {
  return until(`${count} log lines`, () => {
    const lines = rig.gateway.logLines().filter(wanted);
    return lines.length >= count && lines;
  });
}
