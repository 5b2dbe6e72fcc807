import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { type Caller, expectRefusal, post, type Rig, simulatedKey, startRig, until } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
/** Answers every connection with the bytes that the last test chose, whatever is asked. */
let oddServer: Server;
let oddBytes = "";

beforeAll(async () => {
  oddServer = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(oddBytes));
  });
  const port = await listen(oddServer);
  const closed = createServer();
  const closedPort = await listen(closed);
  closed.close();
  const entry = (base_url: string) => ({ kind: "openai-compatible", base_url, api_key: simulatedKey });
  rig = await startRig({
    config: { upstream: { retries: 1, first_byte_timeout: "300ms" } },
    providers: () => ({
      odd: entry(`http://127.0.0.1:${port}`),
      closed: entry(`http://127.0.0.1:${closedPort}`),
      unknown: entry("http://no-such-host.invalid"),
    }),
  });
  caller = await rig.caller();
});

afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  oddServer.close();
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

function refusal(status: string, error: object): string {
  const body = JSON.stringify({ error });
  const head = ["content-type: application/json", `content-length: ${body.length}`, "connection: close"];
  return [`HTTP/1.1 ${status}`, ...head, "", body].join("\r\n");
}

const ask = (model: string, stream = false) =>
  caller.chat({ model, stream, messages: [{ role: "user", content: "hi" }] });

/** Checks the answer, and that nothing was charged. */
async function expectFailure(model: string, code: string, message: string | RegExp, stream = false): Promise<void> {
  const before = await caller.closed();
  const answer = await ask(model, stream);
  const text = await answer.text();
  expectRefusal(answer, text, { status: 502, code, type: "upstream_error", message });
  // The upstream's address and headers are the operator's business.
  expect(text).not.toMatch(/127\.0\.0\.1|\.invalid|simulated-upstream/);
  expect(await caller.closed()).toBe(before);
}

describe("an upstream that is not there", () => {
  test.each([false, true])("a closed port (stream: %p)", async (stream) => {
    await expectFailure("closed/x", "upstream_unreachable", "The upstream of closed could not be reached.", stream);
  });

  test("a name that does not resolve", async () => {
    await expectFailure("unknown/x", "upstream_unreachable", "The upstream of unknown could not be reached.");
  });

  test.each([false, true])("a connection that is reset before any byte (stream: %p)", async (stream) => {
    await expectFailure("openai/gpt-4o-mini+connect-reset", "upstream_unreachable", "of openai", stream);
  });

  test.each([false, true])("one that does not begin to answer (stream: %p)", async (stream) => {
    await expectFailure("openai/gpt-4o-mini+slow-5000", "upstream_timeout", "did not begin to answer in time", stream);
  });
});

describe("an upstream that answers nonsense", () => {
  test("broken JSON", async () => {
    await expectFailure("openai/gpt-4o-mini+malformed", "upstream_invalid_answer", "not a JSON object");
  });

  test("nothing", async () => {
    await expectFailure("openai/gpt-4o-mini+empty", "upstream_invalid_answer", "not a JSON object");
  });

  test("less than it announced", async () => {
    await expectFailure("openai/gpt-4o-mini+truncate", "upstream_interrupted", "broke off");
  });

  const ok = (body: string, fields = "content-type: application/json\r\n"): string =>
    `HTTP/1.1 200 OK\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;

  test.each<[string, string, string, string]>([
    ["a page", ok("<html>login</html>", "content-type: text/html\r\n"), "upstream_invalid_answer", "not a JSON object"],
    ["a list", ok("[]"), "upstream_invalid_answer", "not a JSON object"],
    ["null", ok("null"), "upstream_invalid_answer", "not a JSON object"],
    ["a text", ok('"sk-simulated-upstream-key"'), "upstream_invalid_answer", "not a JSON object"],
    [
      "a redirection, which must not take the key elsewhere",
      "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/steal\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
      "upstream_invalid_answer",
      "status 302",
    ],
    ["bytes that are no HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "upstream_invalid_answer", "of odd"],
    ["an end at once", "", "upstream_unreachable", "of odd"],
    [
      "compression that is none",
      ok("plain", "content-type: application/json\r\ncontent-encoding: gzip\r\n"),
      "upstream_interrupted",
      "broke off",
    ],
  ])("%s", async (_, bytes, code, message) => {
    oddBytes = bytes;
    await expectFailure("odd/x", code, message);
  });
});

describe("an upstream's own error", () => {
  test.each([400, 404, 422, 418])("%d is relayed as it is, and free", async (status) => {
    const before = await caller.closed();
    const answer = await ask(`openai/gpt-4o-mini+status-${status}`);
    const direct = await rig.direct("openai", {
      model: `gpt-4o-mini+status-${status}`,
      messages: [{ role: "user", content: "hi" }],
    });
    expect([answer.status, await answer.text()]).toEqual([direct.status, await direct.text()]);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-tollgate-credits")).toBe("0");
    expect(await caller.closed()).toBe(before);
  });

  test("a page under 502 is relayed as it is", async () => {
    const answer = await ask("openai/gpt-4o-mini+html-502");
    expect(answer.status).toBe(502);
    expect(answer.headers.get("content-type")).toStartWith("text/html");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await answer.text()).toContain("<html");
  });

  test("is relayed without the key that it repeats", async () => {
    oddBytes = refusal("422 Unprocessable Content", { message: `No access for ${simulatedKey}` });
    const answer = await ask("odd/x");
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({ error: { message: "No access for [redacted]" } });
  });

  test("that forbids something, and not the key, is relayed", async () => {
    const error = { message: "Your account has no access to this model.", code: "model_not_available" };
    oddBytes = refusal("403 Forbidden", error);
    const answer = await ask("odd/x");
    expect(answer.status).toBe(403);
    expect(answer.headers.get("x-tollgate-error-source")).toBe("upstream");
    expect(await answer.json()).toEqual({ error });
  });
});

describe("an upstream that refuses the gateway's key", () => {
  const bodies: Record<string, (stream: boolean) => object> = {
    "/v1/chat/completions": (stream) => ({ stream, messages: [{ role: "user", content: "hi" }] }),
    "/v1/messages": (stream) => ({ stream, messages: [{ role: "user", content: "hi" }], max_tokens: 9 }),
    "/v1/responses": (stream) => ({ stream, input: "hi" }),
    "/v1/embeddings": () => ({ input: "hi" }),
  };

  test.each(Object.entries(bodies).flatMap(([path, body]) => [false, true].map((stream) => ({ path, body, stream }))))(
    "is no fault of the caller's token: $path, stream $stream",
    async ({ path, body, stream }) => {
      oddBytes = refusal("401 Unauthorized", { message: "Incorrect API key provided: account 4711" });
      const before = await caller.closed();
      const answer = await post(rig, path, caller.token, { model: "odd/x", ...body(stream) });
      expect(answer.status).toBe(502);
      expect(answer.headers.get("x-tollgate-error-source")).toBe("upstream");
      const text = await answer.text();
      expect(text).toContain("The provider odd refuses the gateway's key.");
      expect(text).not.toContain("4711");
      const type = path === "/v1/messages" ? "api_error" : "upstream_error";
      expect(JSON.parse(text)).toMatchObject({ error: { type } });
      expect(await caller.closed()).toBe(before);
    },
  );

  test("has one line of the log a minute", async () => {
    const refusals = () => rig.gateway.logLines().filter((line) => line["failure"] === "key_refused");
    await until("the line is written", () => refusals().length > 0);
    const lines = refusals();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 50, provider: "odd", status: 401 });
    expect(lines[0]).toHaveProperty("key_id");
  });
});
