/** Forms on their way upstream: byte for byte the client's own but for the model's name, small and large. */
import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  creditsText,
  expectRefusal,
  fieldOf,
  fileOf,
  formBodyOf,
  type FormPost,
  formType,
  newClient,
  newSpoolFolder,
  openForm,
  partOf,
  type Rig,
  type ScriptedUpstream,
  sendForm,
  sha256,
  simulatedKey,
  type SpoolFolder,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const MIB = 1_048_576;

let rig: Rig;
let upstream: ScriptedUpstream;
let spool: SpoolFolder;
beforeAll(async () => {
  spool = newSpoolFolder();
  upstream = startScriptedUpstream();
  rig = await startRig({
    variables: { TMPDIR: spool.path },
    config: { upstream: { retries: 1 }, pricing: { models: { "odd/*": { image: 0.01 }, "other/*": { image: 0.01 } } } },
    providers: () => ({
      odd: { kind: "openai", base_url: upstream.url, api_key: simulatedKey },
      other: { kind: "google", base_url: upstream.url, api_key: simulatedKey },
    }),
  });
});
afterEach(async () => {
  await rig.expectBalancedBooks();
  await until("no file is open", () => spool.openIn(rig.gateway.process.pid) === 0);
  expect(spool.files()).toEqual([]);
});
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
  spool.remove();
});

const drawn = { data: [{ b64_json: "AAAA" }] };
const ofOne = 10_000_000n;

async function postOf(body: Uint8Array, more: Partial<FormPost> = {}): Promise<FormPost> {
  const { token } = await rig.caller();
  return { url: rig.gateway.url, path: "/v1/images/edits", token, body, ...more };
}

const model = (): Buffer => fieldOf("model", "odd/gpt-draws");
const prompt = (): Buffer => fieldOf("prompt", "one red fox");

/** Random bytes; the same each time that a test is run would hide more than it shows. */
function noise(bytes: number): Uint8Array {
  return randomFillSync(new Uint8Array(bytes));
}

/** The same bytes with the prefix of the model removed by hand, and with the corrected length of its part. */
function withoutPrefix(body: Buffer): Buffer {
  return replaced(replaced(body, "odd/", ""), "Content-Length: 13\r\n", "Content-Length: 9\r\n");
}

function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const at = bytes.indexOf(from);
  if (at === -1) return bytes;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + from.length)]);
}

describe("a form gets upstream byte for byte, without the model's prefix", () => {
  /** Each byte there is, line ends and all that begins like a boundary. */
  const nasty = Buffer.concat([
    Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
    Buffer.from("\r\n--\r\n----\r\n------by-han\r\n------by-hand-5e1\r\n--\n\r\n\r\n"),
  ]);
  const boundaries = ["x", "'()+_,-./:=? 0aZ".trim(), "----WebKitFormBoundaryABC123", "y".repeat(70)];

  test.each<[string, () => Buffer, string]>([
    ["as clients write it", () => formBodyOf([model(), prompt(), fileOf("image", nasty)]), formType()],
    ["the model last", () => formBodyOf([fileOf("image", nasty), prompt(), model()]), formType()],
    [
      "the model between files, and parts that mean nothing here",
      () =>
        formBodyOf([
          fileOf("image[]", nasty),
          fieldOf("user", "größe 中"),
          model(),
          fileOf("image[]", ""),
          prompt(),
          fileOf("mask", nasty),
          fieldOf("x[y][0]", ""),
        ]),
      formType(),
    ],
    [
      "headers in other words",
      () =>
        formBodyOf([
          partOf('CONTENT-DISPOSITION:form-data;name=model\r\nContent-Length: 13\r\nX-Own: a"b', "odd/gpt-draws"),
          partOf('content-type:text/plain; charset=UTF-8\r\ncontent-disposition: form-data; name="prompt"', "a fox"),
          partOf(
            'Content-Type: image/png\r\nContent-Disposition: form-data; name="image"; filename="a.png"; filename*=utf-8\'\'gr%C3%B6.png',
            nasty,
          ),
        ]),
      formType(),
    ],
    [
      "words before and behind it",
      () =>
        Buffer.concat([
          Buffer.from("nobody reads this\r\n"),
          formBodyOf([model(), prompt(), fileOf("image", nasty)]),
          Buffer.from("nor this"),
        ]),
      formType(),
    ],
    ...boundaries.map((boundary): [string, () => Buffer, string] => [
      `the boundary ${boundary}`,
      () => formBodyOf([model(), prompt(), fileOf("image", "PNG")], boundary),
      `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`,
    ]),
  ])("%s", async (_what, make, contentType) => {
    upstream.answerWith(() => Response.json(drawn));
    const body = make();
    const expected = withoutPrefix(body);
    for (const chunked of [undefined, "whole"] as const) {
      const answer = await sendForm(await postOf(body, { contentType, chunked }));
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, drawn]);
      const received = upstream.requests.at(-1);
      expect(received?.headers.get("content-type")).toBe(contentType);
      expect(received?.headers.get("content-length")).toBe(String(expected.length));
      expect(received?.bytes.equals(expected)).toBe(true);
    }
  });

  test("in pieces of any size", async () => {
    upstream.answerWith(() => Response.json(drawn));
    const body = formBodyOf([model(), prompt(), fileOf("image", nasty)]);
    const connection = await openForm(await postOf(body.subarray(0, 1), { declared: body.length }));
    for (let at = 1; at < body.length; at += 17) connection.socket.write(body.subarray(at, at + 17));
    expect((await connection.answer())?.status).toBe(200);
    connection.socket.destroy();
    expect(upstream.requests.at(-1)?.bytes.equals(withoutPrefix(body))).toBe(true);
  });

  test("after 100 Continue, if a client waits for it", async () => {
    upstream.answerWith(() => Response.json(drawn));
    const body = formBodyOf([model(), prompt(), fileOf("image", nasty)]);
    const headers = ["expect: 100-continue"];
    const connection = await openForm(await postOf(Buffer.of(), { declared: body.length, headers }));
    await until("it is asked to go on", () => connection.received().startsWith("HTTP/1.1 100 "));
    connection.socket.write(body);
    expect((await connection.answer())?.status).toBe(200);
    connection.socket.destroy();
    expect(upstream.requests.at(-1)?.bytes.equals(withoutPrefix(body))).toBe(true);
  });

  test("once more for another attempt, from memory and from a file", async () => {
    for (const bytes of [1_000, 3 * MIB]) {
      upstream.answerWith(() => Response.json(drawn, { status: upstream.requests.length === 1 ? 500 : 200 }));
      const body = formBodyOf([model(), prompt(), fileOf("image", noise(bytes))]);
      expect((await sendForm(await postOf(body))).status).toBe(200);
      expect(upstream.requests.map((request) => request.bytes.equals(withoutPrefix(body)))).toEqual([true, true]);
    }
  });
});

describe("an upload of 30 MB", () => {
  const size = 30 * MIB;
  /** The most that the process has ever had in memory, in bytes. */
  const peak = (): number => {
    const status = readFileSync(`/proc/${rig.gateway.process.pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  };

  test("gets upstream whole, and not three times into memory", async () => {
    upstream.answerWith(() => Response.json(drawn));
    const body = formBodyOf([model(), prompt(), fileOf("image", noise(size))]);
    const before = peak();
    const hash = sha256(withoutPrefix(body));
    for (const chunked of [undefined, "whole"] as const) {
      expect((await sendForm(await postOf(body, { chunked }))).status).toBe(200);
      expect(sha256(upstream.requests.at(-1)?.bytes ?? Buffer.of())).toBe(hash);
    }
    expect(peak() - before).toBeLessThan(3 * size);
  });

  test("from a client who leaves while the upstream has it is paid for, and its file closed", async () => {
    const opened = Promise.withResolvers<void>();
    upstream.answerWith(async () => {
      await opened.promise;
      return Response.json(drawn);
    });
    const caller = await rig.caller();
    const body = formBodyOf([model(), prompt(), fileOf("image", noise(2 * MIB))]);
    const connection = await openForm(await postOf(body, { token: caller.token }));
    await until("the upstream has it", () => upstream.requests.length === 1);
    connection.socket.destroy();
    opened.resolve();
    await until("it has been paid for", async () => (await caller.books()).spent === ofOne);
    expect(await caller.closed()).toBe(ofOne);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("a retry key of a form", () => {
  /** The SDK leaves the header's name to who subclasses it. */
  class RetryingOpenAI extends OpenAI {
    protected override idempotencyHeader = "Idempotency-Key";
  }

  const headers = ["idempotency-key: k"];
  const formOf = (content: Uint8Array, boundary?: string): Buffer =>
    formBodyOf([model(), prompt(), fileOf("image", content)], boundary);

  test("stands for the same form with another boundary, answered again and charged once", async () => {
    upstream.answerWith(() => Response.json(drawn));
    const caller = await rig.caller();
    const content = noise(2 * MIB);
    const send = async (boundary: string) =>
      sendForm(
        await postOf(formOf(content, boundary), { token: caller.token, headers, contentType: formType(boundary) }),
      );
    const first = await send("one");
    const again = await send("another");
    expect([first.status, first.headers.get("x-tollgate-credits")]).toEqual([200, creditsText(ofOne)]);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(upstream.requests).toHaveLength(1);
    expect(await caller.closed()).toBe(ofOne);
  });

  test.each<[string, (content: Uint8Array) => Buffer]>([
    ["a byte of a file", (content) => formOf(content.map((byte, index) => (index === 999 ? byte ^ 1 : byte)))],
    ["a file's length", (content) => formOf(content.subarray(1))],
    ["a file more", (content) => formBodyOf([model(), prompt(), fileOf("image", content), fileOf("image", content)])],
    ["a file's field", (content) => formBodyOf([model(), prompt(), fileOf("image[]", content)])],
    ["a field", (content) => formBodyOf([model(), fieldOf("prompt", "one red fix"), fileOf("image", content)])],
  ])("with %s changed is refused", async (_what, changed) => {
    upstream.answerWith(() => Response.json(drawn));
    const caller = await rig.caller();
    const content = Uint8Array.from({ length: 1_000 }, (_, index) => index % 251);
    const { token } = caller;
    expect((await sendForm(await postOf(formOf(content), { token, headers }))).status).toBe(200);
    const answer = await sendForm(await postOf(changed(content), { token, headers }));
    const refusal = { status: 409, code: "idempotency_key_reused", param: "idempotency-key" };
    expectRefusal(answer, answer.body, refusal);
    expect(upstream.requests).toHaveLength(1);
    expect(await caller.closed()).toBe(ofOne);
  });

  test("lets the SDK send its form again after its own time-out, and is charged once", async () => {
    const opened = Promise.withResolvers<void>();
    upstream.answerWith(async () => {
      await opened.promise;
      return Response.json(drawn);
    });
    const { caller } = await newClient(rig);
    const options = { baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, timeout: 300, maxRetries: 8 };
    const image = new File([Buffer.from("PNG")], "cat.png", { type: "image/png" });
    const editing = new RetryingOpenAI(options).images.edit({ model: "odd/gpt-draws", prompt: "a fox", image });
    const isRefused = () => rig.gateway.logLines().some((line) => line["error"] === "idempotency_key_in_use");
    await until("it has been sent again", isRefused, 10_000);
    opened.resolve();
    expect((await editing).data).toEqual(drawn.data);
    expect(upstream.requests).toHaveLength(1);
    expect(await caller.closed()).toBe(ofOne);
  });
});

test("a form that becomes JSON is read from its file, and closed", async () => {
  const drawing = { candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] } }] };
  upstream.answerWith(() => Response.json(drawing));
  const image = noise(3 * MIB);
  const parts = [fieldOf("model", "other/draws"), prompt(), fieldOf("n", "2"), fileOf("image", image)];
  const answer = await sendForm(await postOf(formBodyOf(parts)));
  expect([answer.status, answer.headers.get("x-tollgate-credits")]).toEqual([200, creditsText(2n * ofOne)]);
  expect(upstream.requests).toHaveLength(2);
  const { contents } = JSON.parse(upstream.requests[0]?.body ?? "") as {
    contents: { parts: { inlineData?: { data: string } }[] }[];
  };
  const data = contents[0]?.parts[1]?.inlineData?.data ?? "";
  expect(sha256(Buffer.from(data, "base64"))).toBe(sha256(image));
});
