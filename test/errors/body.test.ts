import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  cleanEnvironment,
  expectRefusal,
  openRaw,
  type RawConnection,
  type Refusal,
  type Rig,
  root,
  startRig,
  until,
} from "../kit/index.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const LIMIT = 256 * KIB;

let rig: Rig;
let token: string;

beforeAll(async () => {
  rig = await startRig({ config: { server: { body_limit: "256KiB" } } });
  token = await rig.gateway.token();
});

afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const tooLarge: Refusal = { status: 413, code: "body_too_large", message: `over the limit of ${LIMIT} bytes` };

/** A body of exactly `bytes` bytes that is a good one otherwise. */
function bodyOf(bytes: number): string {
  const empty = JSON.stringify({
    model: "openai/gpt-4o-mini",
    max_tokens: 5,
    messages: [{ role: "user", content: "" }],
  });
  return empty.replace('"content":""', `"content":"${"x".repeat(bytes - empty.length)}"`);
}

/** In pieces and without a length. */
function streamed(text: string, pieceBytes = 16 * KIB): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + pieceBytes));
      at += pieceBytes;
    },
  });
}

const post = (body: Bun.BodyInit, using = token) =>
  fetch(rig.gateway.url + chatPath, { method: "POST", headers: { authorization: `Bearer ${using}` }, body });

const head = (fields: string, using = token): string =>
  `POST ${chatPath} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${using}\r\n${fields}\r\n`;

const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;

async function withConnection(work: (connection: RawConnection) => Promise<void>): Promise<void> {
  const connection = await openRaw(rig.gateway.url);
  try {
    await work(connection);
  } finally {
    connection.socket.destroy();
  }
}

describe("a body at the limit", () => {
  test.each([false, true])("is taken, one byte more is refused (without a length: %p)", async (chunked) => {
    const wrap = (text: string): Bun.BodyInit => (chunked ? streamed(text) : text);
    expect((await post(wrap(bodyOf(LIMIT)))).status).toBe(200);
    const before = rig.simulators.total();
    const answer = await post(wrap(bodyOf(LIMIT + 1)));
    expectRefusal(answer, await answer.text(), tooLarge);
    expect(rig.simulators.total()).toBe(before);
  });
});

describe("a body over the limit", () => {
  test("is refused by its length, before any of it was sent", async () => {
    await withConnection(async ({ socket, answer }) => {
      socket.write(head(`content-length: ${LIMIT + 1}\r\n`));
      const refusal = await answer();
      if (refusal === undefined) throw new Error("no answer");
      expectRefusal(refusal, refusal.body, tooLarge);
    });
  });

  test("without a length is refused while it is read, not after", async () => {
    await withConnection(async ({ socket, answer }) => {
      socket.write(head("transfer-encoding: chunked\r\n"));
      // One byte over the limit, and the body has not ended.
      socket.write(chunk(LIMIT));
      socket.write(chunk(1));
      const refusal = await answer();
      if (refusal === undefined) throw new Error("no answer");
      expectRefusal(refusal, refusal.body, tooLarge);
    });
  });

  test("is refused for its token first", async () => {
    await withConnection(async ({ socket, answer }) => {
      socket.write(head(`content-length: ${100 * MIB}\r\n`, "nonsense"));
      expect((await answer())?.status).toBe(401);
    });
  });

  test("leaves the connection fit for the next request", async () => {
    await withConnection(async ({ socket, answer, received }) => {
      socket.write(head(`content-length: ${4 * MIB}\r\n`));
      expect((await answer())?.status).toBe(413);
      socket.write("x".repeat(4 * MIB));
      socket.write("GET /health HTTP/1.1\r\nhost: gateway\r\n\r\n");
      await until("the next request is answered", () => received().includes('"status":"ok"'));
    });
  });

  test("takes no memory", async () => {
    const before = await residentMib();
    let most = before;
    const sample = setInterval(() => void residentMib().then((mib) => (most = Math.max(most, mib))), 20);
    for (const body of [bodyOf(64 * MIB), streamed(bodyOf(64 * MIB), MIB), bodyOf(64 * MIB)]) {
      const answer = await post(body);
      expect([answer.status, (await answer.text()).includes("body_too_large")]).toEqual([413, true]);
    }
    clearInterval(sample);
    most = Math.max(most, await residentMib());
    expect(most - before).toBeLessThan(48);
  });
});

async function residentMib(): Promise<number> {
  const ps = Bun.spawn(["ps", "-o", "rss=", "-p", String(rig.gateway.process.pid)]);
  return Number(await new Response(ps.stdout).text()) / KIB;
}

/** Node's own `fetch` (undici) and the OpenAI SDK on it, in a process of their own: they send while the gateway refuses. */
const nodeClient = `
  import OpenAI from "openai";
  const [url, token] = process.argv.slice(1);
  const messages = (bytes) => [{ role: "user", content: "x".repeat(bytes) }];
  const body = (bytes) => JSON.stringify({ model: "openai/gpt-4o-mini", messages: messages(bytes) });
  const pieces = (text) => new Blob([text]).stream();
  const ask = async (body, using = token) => {
    const headers = { authorization: "Bearer " + using };
    const answer = await fetch(url + "/v1/chat/completions", { method: "POST", headers, body, duplex: "half" });
    return [answer.status, (await answer.json()).error?.code];
  };
  const client = new OpenAI({ apiKey: token, baseURL: url + "/v1", maxRetries: 0 });
  const sdk = (bytes) => client.chat.completions.create({ model: "openai/gpt-4o-mini", messages: messages(bytes) }).then(
    () => "answered",
    (error) => [error.constructor.name, error.status, error.code],
  );
  const results = {};
  for (const mib of [1, 8, 32]) {
    const bytes = mib * 1024 * 1024;
    results["fetch " + mib] = await ask(body(bytes));
    results["stream " + mib] = await ask(pieces(body(bytes)));
    results["token " + mib] = await ask(body(bytes), "nonsense");
    results["sdk " + mib] = await sdk(bytes);
  }
  results.after = (await fetch(url + "/health")).status;
  console.log(JSON.stringify(results));
`;

test("Node's fetch and the OpenAI SDK see the refusal, not a reset", async () => {
  const child = Bun.spawn(["node", "--input-type=module", "-e", nodeClient, "--", rig.gateway.url, token], {
    cwd: root,
    env: cleanEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const refusals = [1, 8, 32].flatMap((mib): [string, unknown][] => [
    [`fetch ${mib}`, [413, "body_too_large"]],
    [`stream ${mib}`, [413, "body_too_large"]],
    [`token ${mib}`, [401, "invalid_token"]],
    [`sdk ${mib}`, ["APIError", 413, "body_too_large"]],
  ]);
  expect(JSON.parse(stdout)).toEqual({ ...Object.fromEntries(refusals), after: 200 });
});

describe("a body of the wrong shape is refused with the field's name", () => {
  const good = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }] };

  test.each<[string | null, object]>([
    ["model", { ...good, model: 7 }],
    ["model", { messages: good.messages }],
    ["model", { ...good, model: "" }],
    ["messages", { model: good.model }],
    ["messages", { ...good, messages: "hi" }],
    ["messages", { ...good, messages: [] }],
    ["messages.0", { ...good, messages: ["hi"] }],
    ["messages.1", { ...good, messages: [good.messages[0], null] }],
    ["messages.0.role", { ...good, messages: [{ content: "hi" }] }],
    ["messages.0.role", { ...good, messages: [{ role: "", content: "hi" }] }],
    ["messages.0.role", { ...good, messages: [{ role: ["user"], content: "hi" }] }],
    ["messages.0.content", { ...good, messages: [{ role: "user", content: 7 }] }],
    ["messages.0.content", { ...good, messages: [{ role: "user", content: { type: "text" } }] }],
    ["messages.0.content", { ...good, messages: [{ role: "user", content: ["hi"] }] }],
    ["stream", { ...good, stream: "true" }],
    ["stream", { ...good, stream: 1 }],
    ["stream_options", { ...good, stream_options: "include_usage" }],
    ["stream_options.include_usage", { ...good, stream_options: { include_usage: 1 } }],
    ["max_tokens", { ...good, max_tokens: "10" }],
    ["max_tokens", { ...good, max_tokens: 1.5 }],
    ["max_completion_tokens", { ...good, max_completion_tokens: 0 }],
    ["n", { ...good, n: 129 }],
  ])("%s: %j", async (param, body) => {
    const before = rig.simulators.total();
    const answer = await post(JSON.stringify(body));
    expectRefusal(answer, await answer.text(), {
      status: 422,
      code: "validation_failed",
      param,
      message: `${param}: `,
    });
    expect(rig.simulators.total()).toBe(before);
  });

  test.each<[string, string, string]>([
    ["no JSON", "{", "not valid JSON"],
    ["no object", "[]", "must be a JSON object"],
  ])("except for %s, if absent", async (_, body, message) => {
    const answer = await post(body);
    expectRefusal(answer, await answer.text(), { status: 422, code: "validation_failed", message });
  });

  test("null stands for absent, as at OpenAI", async () => {
    const body = {
      ...good,
      stream: null,
      stream_options: null,
      max_tokens: null,
      max_completion_tokens: null,
      n: null,
    };
    expect((await post(JSON.stringify(body))).status).toBe(200);
  });
});
