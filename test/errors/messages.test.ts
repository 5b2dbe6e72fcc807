/** Every error on /v1/messages has Anthropic's shape, and names the request under the header that its SDK reads. */
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  chatModels,
  eachProvider,
  EventReader,
  expectNoInside,
  messagesPath,
  openRaw,
  requestIdShape,
  type Rig,
  simulatedKey,
  startRig,
  type Talker,
  talker,
  type TalkOptions,
  type ReceivedAnswer,
  until,
} from "../kit/index.ts";

const model = "deepseek/deepseek-chat";
const native = "anthropic/claude-haiku-4-5";
const bodyOf = (more: object = {}): object => ({
  model,
  max_tokens: 50,
  messages: [{ role: "user", content: "hi" }],
  ...more,
});

let rig: Rig;
let user: Talker;

beforeAll(async () => {
  rig = await startRig({
    config: { server: { body_limit: "64KiB", body_timeout: "300ms" }, upstream: { retries: 0 } },
    providers: () => ({
      closed: { kind: "openai-compatible", base_url: "http://127.0.0.1:1", api_key: simulatedKey },
      shut: { kind: "anthropic", base_url: "http://127.0.0.1:1", api_key: simulatedKey },
    }),
  });
  user = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

/** Checks one of our errors completely, and returns its message. */
function expectError(
  { status, headers, text }: Pick<ReceivedAnswer, "status" | "headers" | "text">,
  of: [number, string],
): string {
  expect([status, text]).toEqual([of[0], expect.stringContaining(`"type":"${of[1]}"`) as string]);
  const id = headers.get("request-id");
  expect(id).toMatch(requestIdShape);
  expect(headers.get("x-request-id")).toBe(id);
  expect(headers.get("content-type")).toStartWith("application/json");
  const body = JSON.parse(text) as { error: { message: string } };
  const { message } = body.error;
  expect(body).toEqual({ type: "error", error: { type: of[1], message }, request_id: id } as never);
  expect(message).toBeString();
  expectNoInside(text);
  return message;
}

const both = [messagesPath, `${messagesPath}/count_tokens`] as const;

// Long strings are read only if the body is translated.
test.each(both)("%s: an error within a long string is the client's", async (path) => {
  const long = `${"x".repeat(600)}\n`;
  const head = `{"model":"openai/gpt-4o-mini",${path === messagesPath ? '"max_tokens":9,' : ""}`;
  const body = `${head}"messages":[{"role":"user","content":"${long}"}]}`;
  const { token } = await rig.caller();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(rig.gateway.url + path, { method: "POST", headers, body });
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ error: { message: "The body is not valid JSON." } });
});

describe.each(both)("on %s", (path) => {
  const ask = (more: object = {}, options: TalkOptions = {}, who = user): Promise<ReceivedAnswer> => {
    const { max_tokens: limit, ...counted } = bodyOf(more) as { max_tokens?: unknown };
    const body = path === messagesPath ? { ...counted, max_tokens: limit } : counted;
    return who.ask(path, { body, ...options });
  };

  test("401: no token, a wrong one, a revoked one", async () => {
    for (const wrong of ["", "tg_aaaaaaaaaaaa_none", simulatedKey]) {
      expectError(await ask({}, {}, talker(rig.gateway.url, wrong)), [401, "authentication_error"]);
    }
  });

  test("404: a model that is not routed, or that this token may not use", async () => {
    for (const unknown of ["nobody/m", "claude-haiku-4-5", "deepseek/"]) {
      expectError(await ask({ model: unknown }), [404, "not_found_error"]);
    }
    const bound = talker(rig.gateway.url, await rig.gateway.token({ user: "bound", models: ["xai/*"] }));
    expectError(await ask({}, {}, bound), [404, "not_found_error"]);
  });

  test("413: a body beyond the limit", async () => {
    const long = { messages: [{ role: "user", content: "x".repeat(70_000) }] };
    expectError(await ask(long), [413, "request_too_large"]);
  });

  test("422: an invalid body of Messages, naming the field", async () => {
    for (const one of ["{", "[]", '"x"', "", "{}"]) {
      expectError(await ask({}, { body: one }), [422, "invalid_request_error"]);
    }
    for (const messages of [[], "hi", [{ role: "user" }], [{ role: "user", content: [{}] }]]) {
      for (const to of [model, native]) {
        const message = expectError(await ask({ messages, model: to }), [422, "invalid_request_error"]);
        expect(message).toStartWith("messages");
      }
    }
  });

  test("502: an upstream that is not there", async () => {
    const to = path === messagesPath ? ["closed/m", "shut/m"] : ["shut/m"];
    for (const one of to) expectError(await ask({ model: one }), [502, "api_error"]);
  });
});

describe("on /v1/messages", () => {
  test("402: out of credits", async () => {
    const penniless = talker(rig.gateway.url, await rig.gateway.token({ user: "penniless", credits: undefined }));
    for (const to of [model, native]) {
      const body = bodyOf({ model: to });
      expectError(await penniless.ask(messagesPath, { body }), [402, "billing_error"]);
    }
  });

  test("404: another method, another path", async () => {
    expectError(await user.ask(messagesPath), [404, "not_found_error"]);
    expectError(await user.ask(`${messagesPath}/nothing`, { body: {} }), [404, "not_found_error"]);
  });

  test("408: a body that does not come", async () => {
    const { hostname } = new URL(rig.gateway.url);
    const connection = await openRaw(rig.gateway.url);
    const token = await rig.gateway.token({ user: "slow" });
    const head = `POST ${messagesPath} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n`;
    connection.socket.write(`${head}content-length: 50\r\n\r\n{`);
    const answer = await connection.answer();
    connection.socket.destroy();
    if (answer === undefined) throw new Error("no answer");
    expectError({ ...answer, text: answer.body }, [408, "timeout_error"]);
  });

  test("409: a retry key that came with something else", async () => {
    const headers = { "idempotency-key": "k" };
    expect((await user.ask(messagesPath, { body: bodyOf(), headers })).status).toBe(200);
    const other = await user.ask(messagesPath, { body: bodyOf({ max_tokens: 51 }), headers });
    expectError(other, [409, "conflict_error"]);
  });

  test("429: more than the token's rate allows, with when to come back", async () => {
    const hasty = talker(rig.gateway.url, await rig.gateway.token({ user: "hasty", rpm: 1 }));
    const answers = [];
    for (let call = 0; call < 3; call += 1) answers.push(await hasty.ask(messagesPath, { body: bodyOf() }));
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error("none was refused");
    expectError(refused, [429, "rate_limit_error"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("422: an invalid limit", async () => {
    for (const limit of ["50", -1, 1.5, null, true, [], "1e3"]) {
      for (const to of [model, native]) {
        const body = bodyOf({ model: to, max_tokens: limit });
        const message = expectError(await user.ask(messagesPath, { body }), [422, "invalid_request_error"]);
        expect(message).toStartWith("max_tokens");
      }
    }
  });

  test("an answer names the request under both headers as well", async () => {
    for (const to of [model, native]) {
      for (const stream of [true, false]) {
        const { status, headers } = await user.ask(messagesPath, { body: bodyOf({ model: to, stream }) });
        expect([status, headers.get("request-id")]).toEqual([200, headers.get("x-request-id")]);
        expect(headers.get("request-id")).toMatch(requestIdShape);
      }
    }
    const chat = await user.ask("/v1/chat/completions", { body: bodyOf() });
    expect(chat.headers.get("request-id")).toBeNull();
  });
});

describe("an upstream's error", () => {
  const kinds: [number, string][] = [
    [400, "invalid_request_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [413, "request_too_large"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [503, "overloaded_error"],
    [529, "overloaded_error"],
  ];

  test.each(kinds)("%d keeps its status, and is translated to Messages if needed: %s", (status, type) =>
    eachProvider(async (provider, to) => {
      if (provider === "anthropic") return;
      for (const stream of [true, false]) {
        const answer = await user.ask(messagesPath, { body: bodyOf({ model: `${to}+status-${status}`, stream }) });
        // Which kind it is follows from the status alone.
        expect(expectError(answer, [status, type])).not.toBe("");
        expect(answer.headers.get("x-tollgate-credits")).toBe("0");
      }
    }),
  );

  test.each([400, 404, 429, 500, 529])("%d of a native upstream stays as it is, to the byte", async (status) => {
    const faulty = bodyOf({ model: `${native}+status-${status}` });
    const direct = await fetch(`${rig.simulators.providers.anthropic}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": simulatedKey, "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: JSON.stringify({ ...faulty, model: `claude-haiku-4-5+status-${status}` }),
    });
    const answer = await user.ask(messagesPath, { body: faulty });
    expect([answer.status, answer.text]).toEqual([direct.status, await direct.text()]);
    expect(answer.headers.get("request-id")).toMatch(requestIdShape);
  });

  test("that is a page of HTML becomes JSON if translated, and stays as it is if native", async () => {
    const told = await user.ask(messagesPath, { body: bodyOf({ model: `${model}+html-502` }) });
    expectError(told, [502, "api_error"]);
    const passed = await user.ask(messagesPath, { body: bodyOf({ model: `${native}+html-502` }) });
    expect([passed.status, passed.headers.get("content-type")?.split(";")[0]]).toEqual([502, "text/html"]);
    expect(passed.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("with a success status is a 502 if translated", () =>
    eachProvider(async (provider, to) => {
      if (provider === "anthropic") return;
      const answer = await user.ask(messagesPath, { body: bodyOf({ model: `${to}+error-200` }) });
      expectError(answer, [502, "api_error"]);
    }));

  test("in a stream is an error event, with the request's id, and nothing after it", () =>
    eachProvider(async (_provider, to) => {
      for (const fault of ["error-4", "cut-4"]) {
        const body = bodyOf({
          model: `${to}+${fault}`,
          stream: true,
          messages: [{ role: "user", content: "words:30" }],
        });
        const { text } = await user.ask(messagesPath, { body });
        const [, data = ""] = /event: error\ndata: (.*)\n\n$/.exec(text) ?? [];
        expect(JSON.parse(data)).toMatchObject({ type: "error", error: { message: expect.any(String) as string } });
        expect(text.split("event: error").length).toBe(2);
      }
    }));
});

test("Anthropic's SDK reads the id and the kind of an error", async () => {
  const client = new Anthropic({ baseURL: rig.gateway.url, apiKey: "tg_aaaaaaaaaaaa_none", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hi" }];
  const thrown: unknown = await client.messages
    .create({ model: chatModels["anthropic"] ?? "", max_tokens: 5, messages })
    .catch((error: unknown) => error);
  if (!(thrown instanceof Anthropic.AuthenticationError)) throw new Error(`not an error of the SDK: ${String(thrown)}`);
  expect([thrown.status, thrown.requestID]).toEqual([401, expect.stringMatching(requestIdShape) as string]);
});

test("503: a server that is going down", async () => {
  const leaving = await startRig();
  const token = await leaving.gateway.token();
  const { url, process: child } = leaving.gateway;
  const connection = await openRaw(url);
  // A call that has begun to arrive before: the stream behind it shows that it has been seen.
  const body = JSON.stringify(bodyOf());
  const head = `POST ${messagesPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`;
  connection.socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  const open = talker(url, token);
  const words = [{ role: "user", content: "words:30" }];
  const stream = await open.send(messagesPath, {
    body: bodyOf({ model: "deepseek/deepseek-chat+pace-40", stream: true, messages: words }),
  });
  const reader = new EventReader(stream);
  await reader.next();
  child.kill("SIGTERM");
  await until("it takes no new connection", () =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    ),
  );
  connection.socket.write(body.slice(5));
  const answer = await connection.answer();
  if (answer === undefined) throw new Error("no answer");
  expectError({ ...answer, text: answer.body }, [503, "overloaded_error"]);
  expect(answer.headers.get("retry-after")).toBe("1");
  connection.socket.destroy();
  expect(await reader.rest()).toContain("event: message_stop");
  await leaving.stop();
});

test("after all of it nothing is held", async () => {
  expect(await openLedgerStore(rig.gateway.storage).openHolds()).toEqual([]);
});
