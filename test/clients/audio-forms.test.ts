/** Uploaded audio: the form that reaches an upstream is the client's own, and the charge follows from its content. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { toFile } from "openai";
import { formOf, soundFile } from "../../simulators/testing/media.ts";
import {
  expectRefusal,
  expectSpent,
  generationOf,
  lastReceived,
  newClient,
  post,
  type Rig,
  type ScriptedUpstream,
  sha256,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import { leaveBeforeAnswer, speechPath, startAudioRig, transcriptionsPath, translationsPath } from "./audio.ts";

let rig: Rig;
let odd: ScriptedUpstream;
beforeAll(async () => {
  odd = startScriptedUpstream();
  rig = await startAudioRig(odd.url);
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await odd.stop();
});

/** A millisecond of `odd`, of whisper-1 and of `local`: 0.36 credits an hour. */
const nano = 100n;

/** A form written by no library: quoted pairs, other orders and spaces, a preamble, an epilogue. */
function handwritten(model: string, file: Uint8Array, boundary: string): Buffer {
  const part = (...lines: string[]) => `--${boundary}\r\n${lines.join("\r\n")}\r\n`;
  const before = [
    "This is a preamble.\r\n",
    part('content-disposition:form-data;name="prompt"', "", "größer, — and\r\na second line"),
    part(
      'Content-Disposition: form-data; filename="a \\"b\\" ü.wav"; name=file',
      "Content-Type: audio/x-wav",
      "X-More: 1",
      "",
    ),
  ].join("");
  const after = [
    "\r\n",
    part('Content-Disposition: form-data; name="response_format"', "", "json"),
    part('Content-Disposition: form-data; name="unheard-of[]"', "Content-Type: text/plain; charset=utf-8", "", "one"),
    part('Content-Disposition: form-data; name="model"', "", model),
    part('Content-Disposition: form-data; name="unheard-of[]"', "", "--two"),
    `--${boundary}--\r\nThis is an epilogue.`,
  ].join("");
  return Buffer.concat([Buffer.from(before), file, Buffer.from(after)]);
}

function postBytes(path: string, token: string, bytes: Uint8Array, boundary: string): Promise<Response> {
  return fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": `multipart/form-data; boundary="${boundary}"` },
    body: Buffer.from(bytes),
  });
}

/** Every possible byte, and text that looks like a boundary, repeatedly. */
const everyByte = Buffer.concat([
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from("\r\n--\r\n--bound\r\n"),
]);
const bytesOf = (size: number): Buffer => Buffer.alloc(size, everyByte);

describe("the form that is forwarded", () => {
  test.each([
    ["in memory", transcriptionsPath, 100_000],
    ["by way of a temporary file", transcriptionsPath, 3_000_000],
    ["of a translation", translationsPath, 100_000],
  ])("%s is the client's, byte for byte, but for the model's prefix", async (_where, path, size) => {
    const { caller } = await newClient(rig);
    odd.answerWith(() => Response.json({ text: "hello", usage: { type: "duration", seconds: 2 } }));
    const file = bytesOf(size);
    const boundary = "bound's own";
    const answer = await postBytes(path, caller.token, handwritten("odd/whisper", file, boundary), boundary);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      '{"text":"hello","usage":{"type":"duration","seconds":2}}',
    ]);
    expect(odd.requests).toHaveLength(1);
    const [received] = odd.requests;
    expect(received?.headers.get("content-type")).toBe(`multipart/form-data; boundary="${boundary}"`);
    expect(sha256(received?.bytes ?? Buffer.of())).toBe(sha256(handwritten("whisper", file, boundary)));
    await expectSpent(rig, caller, 2_000n * nano);
  });

  test("is sent whole at each attempt", async () => {
    const { caller } = await newClient(rig);
    const file = new File([bytesOf(3_000_000)], "a.wav");
    odd.answerWith(() =>
      odd.requests.length === 1
        ? new Response("{}", { status: 500 })
        : Response.json({ text: "hello", usage: { type: "duration", seconds: 1 } }),
    );
    const answer = await post(rig, transcriptionsPath, caller.token, formOf({ model: "odd/whisper", file }));
    expect(answer.status).toBe(200);
    const [first, second] = odd.requests;
    expect(first?.bytes.length).toBeGreaterThan(3_000_000);
    expect(sha256(first?.bytes ?? Buffer.of())).toBe(sha256(second?.bytes ?? Buffer.from("none")));
    await expectSpent(rig, caller, 1_000n * nano);
  });

  test.each([
    ["openai/whisper-1", ["file", "model", "language", "prompt", "temperature"]],
    ["groq/groq-whisper", ["file", "model", "language", "prompt", "temperature"]],
    ["mistral/voxtral-mini-latest", ["model", "language", "temperature", "file"]],
    ["xai/grok-stt", ["language", "file"]],
  ])("of %s holds the very file, under its name and type", async (model, names) => {
    const { client, caller } = await newClient(rig);
    const bytes = await soundFile(2, "flac").bytes();
    const file = await toFile(bytes, 'Sitzung "7" äöü.flac', { type: "audio/flac" });
    await client.audio.transcriptions.create({ file, model, language: "de", prompt: "amber", temperature: 0.5 });
    const { parts, headers } = lastReceived(rig);
    expect(parts?.map(({ name }) => name)).toEqual(names);
    const name = 'Sitzung "7" äöü.flac';
    const sent = parts?.find((part) => part.name === "file");
    expect(sent).toEqual({
      name: "file",
      filename: sent?.filename ?? null,
      contentType: "audio/flac",
      size: bytes.length,
      sha256: sha256(bytes),
      text: null,
    });
    expect([name, encodeURI(name), name.replaceAll('"', "%22")]).toContain(sent?.filename ?? "");
    expect(parts?.find((part) => part.name === "language")?.text).toBe("de");
    expect(Number(headers["content-length"])).toBeGreaterThan(bytes.length);
    await caller.closed();
  });
});

describe("the length that is charged", () => {
  /** Two seconds of WAV whose header claims this many bytes of samples. */
  async function claiming(claimed: number): Promise<File> {
    const bytes = Buffer.from(await soundFile(2).bytes());
    bytes.writeUInt32LE(claimed, 40);
    return new File([bytes], "sound.wav", { type: "audio/wav" });
  }

  const text = () => new Response("hello\n", { headers: { "content-type": "text/plain" } });
  const asked = { model: "odd/whisper", response_format: "text" };

  test.each([
    ["no length", 0],
    ["one that is unknown", 0xffffffff],
    ["a tenth of it", 6_400],
    ["a hundred times it", 6_400_000],
    ["its own", 64_000],
  ])("is that of the samples that are there, though the head claims %s", async (_what, claimed) => {
    const { caller } = await newClient(rig);
    odd.answerWith(text);
    const answer = await post(
      rig,
      transcriptionsPath,
      caller.token,
      formOf({ ...asked, file: await claiming(claimed) }),
    );
    expect(await answer.text()).toBe("hello\n");
    await expectSpent(rig, caller, 2_000n * nano);
  });

  test("is estimated at a common bit rate if the file cannot be read, and held at the lowest", async () => {
    const { caller } = await newClient(rig);
    const file = new File([bytesOf(80_000)], "sound.mp3", { type: "audio/mpeg" });
    let held = 0n;
    odd.answerWith(async () => {
      ({ held } = await caller.books());
      return text();
    });
    const answer = await post(rig, transcriptionsPath, caller.token, formOf({ ...asked, file }));
    expect(answer.status).toBe(200);
    await answer.text();
    // 500 bytes a second, and 2,000.
    expect(held).toBe(BigInt(file.size * 2) * nano);
    await expectSpent(rig, caller, BigInt(Math.ceil(file.size / 2)) * nano);
  });

  test("is the upstream's figure if it reports one, even beyond the hold", async () => {
    const { caller } = await newClient(rig);
    odd.answerWith(() => Response.json({ text: "hello", usage: { type: "duration", seconds: 60 } }));
    const answer = await post(
      rig,
      transcriptionsPath,
      caller.token,
      formOf({ ...asked, file: await claiming(64_000) }),
    );
    expect(answer.headers.get("x-tollgate-credits")).toBe("0.006");
    await expectSpent(rig, caller, 60_000n * nano);
  });

  test.each(["mp3", "opus", "aac", "flac", "wav"] as const)("is read in %s", async (format) => {
    const { caller } = await newClient(rig);
    odd.answerWith(text);
    const file = soundFile(2.88, format);
    await (await post(rig, transcriptionsPath, caller.token, formOf({ ...asked, file }))).text();
    // Whole seconds, as OpenAI bills them.
    await expectSpent(rig, caller, 3_000n * nano);
  });
});

test("a client that disconnects during the upstream's work pays for the answer's usage", async () => {
  const { caller } = await newClient(rig);
  const form = formOf({ model: "odd/whisper", file: soundFile(2) });
  await leaveBeforeAnswer(
    odd,
    () => Response.json({ text: "hello", usage: { type: "duration", seconds: 3 } }),
    (signal) => post(rig, transcriptionsPath, caller.token, form, { signal }),
  );
  await expectSpent(rig, caller, 3_000n * nano);
});

/** Leaves a stream that an upstream is asked for, and waits until the gateway has given it up: who left before has been seen. */
async function leaveStream(): Promise<void> {
  const { caller } = await newClient(rig);
  const leaving = new AbortController();
  const form = formOf({ model: "openai/gpt-4o-transcribe+slow-60000", file: soundFile(2), stream: "true" });
  const call = post(rig, transcriptionsPath, caller.token, form, { signal: leaving.signal });
  await until("the upstream is asked", () => rig.simulators.total() === 1);
  expect(lastReceived(rig).headers["accept"]).toBe("text/event-stream");
  leaving.abort();
  expect(await call.catch((reason: Error) => reason.name)).toBe("AbortError");
  // The upstream has received the request: its input, two seconds at ten tokens each, is charged.
  await expectSpent(rig, caller, 20n * 6_000n);
}

test.each(["transcription", "speech"])(
  "a client that leaves a stream which is made of a whole answer pays for it (%s)",
  async (what) => {
    const { caller } = await newClient(rig);
    const form = formOf({ model: "odd-xai/grok-stt", file: soundFile(36), stream: "true" });
    const body = { model: "odd-xai/grok-tts", input: "hello", voice: "eve", stream_format: "sse" };
    const isSpeech = what === "speech";
    await leaveBeforeAnswer(
      odd,
      () => Response.json(isSpeech ? { audio: "AAAA" } : { text: "hello", duration: 36, words: [] }),
      (signal) =>
        isSpeech
          ? post(rig, speechPath, caller.token, body, { signal })
          : post(rig, transcriptionsPath, caller.token, form, { signal }),
      {
        meanwhile: () => expect(odd.requests[0]?.headers.get("accept")).toBe("*/*"),
        left: leaveStream,
      },
    );
    await expectSpent(rig, caller, isSpeech ? 75_000n : 1_000_000n);
  },
);

test("a retry with another boundary gets the first answer again, for nothing; another file is another call", async () => {
  const { caller } = await newClient(rig);
  const headers = { "idempotency-key": "take-1" };
  const send = (seconds: number) =>
    post(rig, transcriptionsPath, caller.token, formOf({ model: "openai/whisper-1", file: soundFile(seconds) }), {
      headers,
    });
  const first = await send(2);
  const text = await first.text();
  const again = await send(2);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.headers.get("x-tollgate-first-request-id")).toBe(first.headers.get("x-request-id") ?? "none");
  expect(await again.text()).toBe(text);
  const other = await send(3);
  expectRefusal(other, await other.text(), { status: 409, code: "idempotency_key_reused", param: "idempotency-key" });
  expect(rig.simulators.total()).toBe(1);
  await expectSpent(rig, caller, 2_000n * nano);
  expect(await generationOf(rig, caller, first)).toMatchObject({ outcome: "complete" });
});

test("of a thousand at once on credits for ten, ten succeed", async () => {
  const calls = 1_000;
  const token = await rig.gateway.token({ user: "crowd", credits: 10n * 2_000n * nano });
  const file = soundFile(2, "opus");
  const answers = await Promise.all(
    Array.from({ length: calls }, async () => {
      const form = formOf({ model: "local/some-whisper+slow-100", file });
      const answer = await post(rig, transcriptionsPath, token, form);
      return `${answer.status} ${answer.headers.get("x-tollgate-credits")} ${(await answer.text()).includes("insufficient_credits")}`;
    }),
  );
  const counted = Object.fromEntries(
    [...new Set(answers)].map((one) => [one, answers.filter((other) => other === one).length]),
  );
  expect(counted).toEqual({ "200 0.0002 false": 10, "402 null true": calls - 10 });
  expect(rig.simulators.total()).toBe(10);
});
