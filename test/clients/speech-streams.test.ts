/** Streamed speech: it is relayed as it arrives, and if it is broken off, the sent part is charged, once. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Stream } from "openai/streaming";
import {
  askAgain,
  bucketsOf,
  type Caller,
  EventReader,
  expectSpent,
  generationOf,
  newClient,
  openRaw,
  post,
  type Rig,
  type ScriptedUpstream,
  sha256,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import { leaveBeforeAnswer, speechPath, startAudioRig, withFault } from "./audio.ts";

/** The piece size of the simulators. */
const pieceBytes = 4_096;

/** An upstream that sends two pieces, and then waits for its connection to be cut. */
const brittle = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "audio/pcm" });
  response.write(Buffer.alloc(2 * pieceBytes));
  cuts.push(() => response.socket?.destroy());
});
let cuts: (() => void)[] = [];

let rig: Rig;
let odd: ScriptedUpstream;
beforeAll(async () => {
  odd = startScriptedUpstream();
  await new Promise<void>((resolve) => brittle.listen(0, "127.0.0.1", resolve));
  const { port } = brittle.address() as AddressInfo;
  rig = await startAudioRig(odd.url, {
    config: { upstream: { retries: 0 } },
    providers: () => ({ brittle: { kind: "openai", base_url: `http://127.0.0.1:${port}`, api_key: "unused" } }),
  });
});
beforeEach(() => {
  rig.simulators.clear();
  cuts = [];
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await odd.stop();
  brittle.close();
});

/** 23 code points in 29 bytes, which are eight tokens; three seconds long. */
const input = "Größe 你好 seconds:3, ok!";
const characters = 23n;
const inputTokens = 8n;
/** Samples of two bytes, 24,000 a second. */
const pcmBytes = 3 * 48_000;
const byCharacters = { model: "openai/tts-1", voice: "alloy", input, response_format: "pcm" } as const;
const byTokens = { model: "openai/gpt-4o-mini-tts", voice: "marin", input, response_format: "pcm" } as const;
const characterNano = 15_000n;
const [inputNano, soundNano] = [600n, 12_000n];

/** 1,250 tokens a minute. */
const soundTokens = (bytes: number): bigint => BigInt(Math.ceil((Math.ceil(bytes / 48) * 1_250) / 60_000));

/** The one log line of a caller's call. */
async function logLineOf({ user }: Caller): Promise<Record<string, unknown> | undefined> {
  const lines = await until("the call's log line", () => {
    const all = rig.gateway.logLines().filter((line) => line["user"] === user && line["msg"] === "call");
    return all.length > 0 && all;
  });
  expect(lines).toHaveLength(1);
  return lines[0];
}

/** How reading an answer to its end fails, if it does; an answer that breaks at once may never have begun. */
async function failureOf(answering: Promise<Response>): Promise<unknown> {
  try {
    return await (await answering).arrayBuffer();
  } catch (reason) {
    return reason;
  }
}

/** Reads an answer piece by piece. */
function listenTo({ body }: Response) {
  if (body === null) throw new Error("the answer has no body");
  const reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> = body.getReader();
  /** So many bytes, or all that are still to come. */
  const read = async (bytes = Number.POSITIVE_INFINITY): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    for (let size = 0; size < bytes;) {
      const { value } = await reader.read();
      if (value === undefined) break;
      pieces.push(value);
      size += value.length;
    }
    return Buffer.concat(pieces);
  };
  return { read, hangUp: () => reader.cancel() };
}

describe("bytes", () => {
  test("reach the client while the upstream is still speaking", async () => {
    const { caller } = await newClient(rig);
    const speaking = Promise.withResolvers<void>();
    const halves = [Buffer.alloc(24_000, 1), Buffer.alloc(24_000, 2)] as const;
    const sound = async function* () {
      yield halves[0];
      await speaking.promise;
      yield halves[1];
    };
    odd.answerWith(() => new Response(sound(), { headers: { "content-type": "audio/pcm" } }));
    const answer = await post(rig, speechPath, caller.token, { ...byCharacters, model: "odd/speech" });
    expect(answer.headers.get("content-type")).toBe("audio/pcm");
    const { read } = listenTo(answer);
    expect((await read(halves[0].length)).equals(halves[0])).toBe(true);
    speaking.resolve();
    expect((await read()).equals(halves[1])).toBe(true);
    await expectSpent(rig, caller, characters * 10_000n);
  });

  test.each(["gzip", "split-1000"])("pass whole, however the upstream packs them (%s)", async (fault) => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, speechPath, caller.token, { ...byTokens, model: `${byTokens.model}+${fault}` });
    expect(answer.headers.get("content-encoding")).toBeNull();
    expect(sha256(await answer.arrayBuffer())).toBe(sha256(await (await askAgain(rig)).arrayBuffer()));
    await expectSpent(rig, caller, inputTokens * inputNano + 63n * soundNano);
  });

  test("of a model priced by tokens are charged by their duration", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.speech.create({ ...byTokens, instructions: "Whisper." });
    expect((await answer.arrayBuffer()).byteLength).toBe(pcmBytes);
    // 62.5 tokens are spoken; the text and the eight letters of the instructions go in.
    await expectSpent(rig, caller, (inputTokens + 2n) * inputNano + 63n * soundNano);
    expect(await bucketsOf(rig, caller, answer)).toEqual({
      input: 10,
      output_audio: 63,
      input_characters: 23,
      requests: 1,
    });
  });

  test.each(["mp3", "opus", "aac", "flac", "wav"] as const)("%s is as long as its frames", async (format) => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.speech.create({ ...byTokens, response_format: format });
    await answer.arrayBuffer();
    await expectSpent(rig, caller, inputTokens * inputNano + 63n * soundNano);
  });
});

describe("events", () => {
  const asked = { ...byTokens, stream_format: "sse" } as const;

  interface SpeechEvent {
    type: string;
    audio?: string;
    usage?: { input_tokens: number; output_tokens: number };
  }

  /** The audio and the last event of an event stream, read with the SDK's own decoder. */
  async function listen(answer: Response): Promise<{ sound: Buffer; end: SpeechEvent | undefined; pieces: number }> {
    const pieces: Buffer[] = [];
    let end: SpeechEvent | undefined;
    for await (const event of Stream.fromSSEResponse<SpeechEvent>(answer, new AbortController())) {
      expect(end).toBeUndefined();
      if (event.type === "speech.audio.delta") pieces.push(Buffer.from(event.audio ?? "", "base64"));
      else end = event;
    }
    return { sound: Buffer.concat(pieces), end, pieces: pieces.length };
  }

  test.each(["", "+crlf+split-1000", "+gzip"])(
    "of openai pass byte for byte, and cost what the last one counts (%s)",
    async (faults) => {
      const { caller } = await newClient(rig);
      const answer = await post(rig, speechPath, caller.token, { ...asked, model: asked.model + faults });
      expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
      const bytes = await answer.arrayBuffer();
      const upstreams = await askAgain(rig);
      expect(answer.headers.get("content-type")).toBe(upstreams.headers.get("content-type"));
      expect(sha256(bytes)).toBe(sha256(await upstreams.arrayBuffer()));
      // 23 letters are six tokens to the simulator; 62.5 are spoken.
      await expectSpent(rig, caller, 6n * inputNano + 63n * soundNano);
      const buckets = { input: 6, output_audio: 63, input_characters: 23, requests: 1 };
      expect(await bucketsOf(rig, caller, answer)).toEqual(buckets);
      expect(await generationOf(rig, caller, answer)).toMatchObject({ streamed: true, outcome: "complete" });
    },
  );

  test("of openai, as the SDK's users read them", async () => {
    const { client, caller } = await newClient(rig);
    const { sound, end, pieces } = await listen(await client.audio.speech.create(asked));
    expect([sound.length, pieces]).toEqual([pcmBytes, Math.ceil(pcmBytes / pieceBytes)]);
    expect(end).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: 6, output_tokens: 63 } });
    await expectSpent(rig, caller, 6n * inputNano + 63n * soundNano);
  });

  test.each([
    ["xai/grok-tts", "eve", 15_000n],
    ["mistral/voxtral-mini-tts-2603", "en_paul", 16_000n],
  ])("are made of %s's whole answer", async (model, voice, nano) => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.speech.create({ ...asked, model, voice });
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const { sound, end } = await listen(answer);
    const raw = await client.audio.speech.create({ ...byTokens, model, voice });
    expect(sound.length).toBe(pcmBytes);
    expect(sound.equals(Buffer.from(await raw.arrayBuffer()))).toBe(true);
    expect(end).toEqual({ type: "speech.audio.done" });
    await expectSpent(rig, caller, 2n * characters * nano);
  });

  test("an upstream's error among them ends them, and the call is free", async () => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, speechPath, caller.token, { ...asked, model: `${asked.model}+error-2` });
    const text = await answer.text();
    expect(text.match(/^event: speech\.audio\.delta$/gm)).toHaveLength(2);
    expect(text).toContain('"error"');
    expect(text).not.toContain("speech.audio.done");
    await expectSpent(rig, caller, 0n);
    // The usage is recorded, since the provider may bill it.
    const { outcome, usage } = await generationOf(rig, caller, answer);
    expect([outcome, Object.keys(usage as object).length > 0]).toEqual(["failed", true]);
  });

  test("that break off end with an error event, and the sent part is charged", async () => {
    const { caller } = await newClient(rig);
    const audio = Buffer.alloc(2 * pieceBytes).toString("base64");
    const delta = `event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"${audio}"}\n\n`;
    odd.answerWith(() => new Response(delta, { headers: { "content-type": "text/event-stream" } }));
    const answer = await post(rig, speechPath, caller.token, { ...asked, model: "odd/gpt-4o-mini-tts" });
    const text = await answer.text();
    expect(text).toStartWith(delta);
    expect(text.trimEnd().split("\n\n").at(-1)).toContain('"upstream_interrupted"');
    await expectSpent(rig, caller, inputTokens * inputNano + soundTokens(2 * pieceBytes) * soundNano);
  });

  test("a client that hangs up among them pays for those that were sent", async () => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, speechPath, caller.token, { ...asked, model: `${asked.model}+stall-3` });
    const reader = new EventReader(answer);
    for (let events = 0; events < 3; events += 1) expect(await reader.next()).toStartWith("event: speech.audio.delta");
    await reader.cancel();
    await expectSpent(rig, caller, inputTokens * inputNano + soundTokens(3 * pieceBytes) * soundNano);
    expect(await logLineOf(caller)).toMatchObject({ outcome: "abandoned" });
    await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted");
  });
});

describe("a client that hangs up", () => {
  test.each([
    ["all characters, which the upstream has read", byCharacters, characters * characterNano],
    [
      "the sound so far, where tokens are counted",
      byTokens,
      inputTokens * inputNano + soundTokens(2 * pieceBytes) * soundNano,
    ],
  ])("pays for %s, once", async (_what, asked, nano) => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, speechPath, caller.token, { ...asked, model: `${asked.model}+stall-2` });
    const { read, hangUp } = listenTo(answer);
    expect((await read(2 * pieceBytes)).length).toBe(2 * pieceBytes);
    expect(rig.simulators.requests().map(({ outcome }) => outcome)).toEqual(["open"]);
    expect((await caller.books()).held).toBeGreaterThan(0n);
    await hangUp();
    await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted");
    await expectSpent(rig, caller, nano);
    expect(await logLineOf(caller)).toMatchObject({ outcome: "abandoned", status: 200 });
    expect(await generationOf(rig, caller, answer)).toMatchObject({ credits: Number(nano) / 1e9 });
  });

  test("from xAI pays for all characters", async () => {
    const { caller } = await newClient(rig);
    const model = withFault("xai/grok-tts", "stall-1");
    const answer = await post(rig, speechPath, caller.token, { ...byCharacters, model, voice: "eve" });
    const { read, hangUp } = listenTo(answer);
    await read(pieceBytes);
    await hangUp();
    await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted");
    await expectSpent(rig, caller, characters * 15_000n);
  });

  test("before the first byte leaves no hold open, and pays for the text that the upstream has read", async () => {
    const { caller } = await newClient(rig);
    await leaveBeforeAnswer(
      odd,
      () => new Response(Buffer.alloc(48_000), { headers: { "content-type": "audio/pcm" } }),
      (signal) => post(rig, speechPath, caller.token, { ...byCharacters, model: "odd/speech" }, { signal }),
    );
    await expectSpent(rig, caller, characters * 10_000n);
    expect(await logLineOf(caller)).toMatchObject({ status: 200 });
  });

  test("with a retry key gets the whole when it asks again, and pays for it once", async () => {
    const { caller } = await newClient(rig);
    const headers = { "idempotency-key": "again" };
    const speaking = Promise.withResolvers<void>();
    const sound = async function* () {
      yield Buffer.alloc(pieceBytes, 1);
      await speaking.promise;
      yield Buffer.alloc(pieceBytes, 2);
    };
    odd.answerWith(() => new Response(sound(), { headers: { "content-type": "audio/pcm" } }));
    const body = { ...byCharacters, model: "odd/speech" };
    const { read, hangUp } = listenTo(await post(rig, speechPath, caller.token, body, { headers }));
    await read(pieceBytes);
    await hangUp();
    speaking.resolve();
    await caller.closed();
    const again = await post(rig, speechPath, caller.token, body, { headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const whole = Buffer.concat([Buffer.alloc(pieceBytes, 1), Buffer.alloc(pieceBytes, 2)]);
    expect(Buffer.from(await again.arrayBuffer()).equals(whole)).toBe(true);
    expect(odd.requests).toHaveLength(1);
    await expectSpent(rig, caller, characters * 10_000n);
  });
});

describe("an upstream that breaks off", () => {
  test.each([
    ["characters", byCharacters, characters * characterNano],
    ["tokens", byTokens, inputTokens * inputNano + soundTokens(2 * pieceBytes) * soundNano],
  ])("is no short success to a client that pays by %s", async (_unit, asked, nano) => {
    const { caller } = await newClient(rig);
    const model = asked.model.replace("openai", "brittle");
    const answer = await post(rig, speechPath, caller.token, { ...asked, model });
    const { read } = listenTo(answer);
    expect((await read(2 * pieceBytes)).length).toBe(2 * pieceBytes);
    for (const sever of cuts) sever();
    expect(await read().catch((reason: unknown) => reason)).toBeInstanceOf(Error);
    await expectSpent(rig, caller, nano);
    expect(await generationOf(rig, caller, answer)).toMatchObject({ status: 200, outcome: "interrupted" });
    expect(await logLineOf(caller)).toMatchObject({ outcome: "interrupted", error: "upstream_interrupted" });
  });

  test("leaves the answer without its last chunk, and the connection closed", async () => {
    const { caller } = await newClient(rig);
    const body = JSON.stringify({ ...byCharacters, model: "brittle/tts-1" });
    const connection = await openRaw(rig.gateway.url);
    const head = [`POST ${speechPath} HTTP/1.1`, "host: gateway", `authorization: Bearer ${caller.token}`];
    connection.socket.write(`${head.join("\r\n")}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await until("both pieces are there", () => connection.received().length > 2 * pieceBytes);
    for (const sever of cuts) sever();
    await connection.closed;
    connection.socket.destroy();
    expect(connection.received()).toStartWith("HTTP/1.1 200");
    expect(connection.received()).not.toEndWith("\r\n0\r\n\r\n");
    await expectSpent(rig, caller, characters * characterNano);
  });

  test("or stalls is aborted, and the sent part is charged", async () => {
    const impatient = await startAudioRig(odd.url, { config: { upstream: { idle_timeout: "1s" } } });
    try {
      const { caller } = await newClient(impatient);
      const answer = await post(impatient, speechPath, caller.token, {
        ...byTokens,
        model: `${byTokens.model}+stall-2`,
      });
      const { read } = listenTo(answer);
      expect(await read().catch((reason: unknown) => reason)).toBeInstanceOf(Error);
      await expectSpent(impatient, caller, inputTokens * inputNano + soundTokens(2 * pieceBytes) * soundNano);
      expect(await generationOf(impatient, caller, answer)).toMatchObject({ outcome: "interrupted" });
    } finally {
      await impatient.stop();
    }
  });

  test.each(["cut-0", "empty"])("before the first byte (%s) has said nothing, and costs nothing", async (fault) => {
    const { caller } = await newClient(rig);
    const answer = post(rig, speechPath, caller.token, { ...byCharacters, model: `openai/tts-1+${fault}` });
    expect(await failureOf(answer)).toBeInstanceOf(Error);
    await expectSpent(rig, caller, 0n);
    expect(await logLineOf(caller)).toMatchObject({ outcome: "failed", error: "upstream_interrupted" });
  });
});
