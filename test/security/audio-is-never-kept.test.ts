/**
 * Nothing of audio is logged or stored except its metadata: after calls that succeed, fail, are refused or aborted, the
 * log, every table, the files of the storage and the temporary folder are searched for marks from the audio, the
 * prompts, the texts for speech and the transcripts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { formOf, soundFile } from "../../simulators/testing/media.ts";
import {
  leaveBeforeAnswer,
  speechPath,
  startAudioRig,
  transcriptionsPath,
  translationsPath,
} from "../clients/audio.ts";
import {
  type Caller,
  hasProc,
  newSpoolFolder,
  openRaw,
  post,
  type Rig,
  type ScriptedUpstream,
  type SpoolFolder,
  startScriptedUpstream,
  tablesWith,
  until,
} from "../kit/index.ts";

/** In a sound that is sent, in a prompt, in a text to be spoken, in a transcript and in a sound that is made. */
const marks = {
  sound: "marked-sound-5b1e09",
  prompt: "marked-prompt-77c2d4",
  text: "marked-text-0fa913",
  transcript: "marked-transcript-e6d8a2",
  speech: "marked-speech-31bb7c",
};
/** In a transcript that is kept for its retry key. */
const keptMark = "marked-to-be-kept-92f0";

let rig: Rig;
let odd: ScriptedUpstream;
let caller: Caller;
let spool: SpoolFolder;
beforeAll(async () => {
  odd = startScriptedUpstream();
  spool = newSpoolFolder();
  rig = await startAudioRig(odd.url, {
    config: { log: { level: "trace" }, server: { body_limit: "8MiB" }, upstream: { retries: 0 } },
    variables: { TMPDIR: spool.path },
  });
  caller = await rig.caller();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await odd.stop();
  spool.remove();
});

/** This many seconds of WAV whose samples repeat the mark. */
async function markedSound(seconds: number): Promise<File> {
  const bytes = Buffer.from(await soundFile(seconds).bytes());
  bytes.fill(marks.sound, 44);
  return new File([bytes], "meeting.wav", { type: "audio/wav" });
}
/** Two seconds stay in memory, a hundred go into a temporary file. */
const lengths = [2, 100];

async function marked(fields: Record<string, string> = {}, seconds = 2): Promise<FormData> {
  return formOf({ model: "odd/whisper", prompt: marks.prompt, file: await markedSound(seconds), ...fields });
}

const spoken = { model: "odd/speech", voice: "alloy", input: marks.text, instructions: marks.prompt };

interface EventLike {
  type: string;
  [member: string]: unknown;
}

const plain = { headers: { "content-type": "text/plain" } };
const events = { headers: { "content-type": "text/event-stream" } };
const heard = { text: marks.transcript, duration: 2, words: [{ text: marks.transcript, start: 0, end: 2 }] };
const failure = { error: { message: `${marks.prompt} ${marks.transcript}`, type: marks.prompt, code: null } };
const eventsOf = (...all: EventLike[]): string =>
  all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** Sends it, and reads whatever comes of it. */
async function send(body: FormData | object, path = transcriptionsPath, token = caller.token, headers = {}) {
  const answer = await post(rig, path, token, body, { headers });
  return { status: answer.status, id: answer.headers.get("x-request-id"), text: await answer.text().catch(String) };
}

/** The log line of a request. */
function lineOf(id: string | null): Promise<Record<string, unknown>> {
  return until(`the log line of ${id}`, () => rig.gateway.logLines().find((line) => line["request_id"] === id));
}

describe("calls", () => {
  test.each(lengths)(
    "that succeed, with %d seconds: the line has the file's name, type, size and length",
    async (seconds) => {
      odd.answerWith(() => Response.json(heard));
      const { id, text } = await send(await marked({}, seconds));
      expect(text).toContain(marks.transcript);
      expect(odd.requests[0]?.bytes.includes(marks.sound)).toBe(true);
      const bytes = 44 + seconds * 32_000;
      const file = { field: "file", name: "meeting.wav", type: "audio/wav", bytes, sound_ms: seconds * 1_000 };
      expect(await lineOf(id)).toMatchObject({ msg: "call", outcome: "complete", files: [file] });
    },
  );

  test("that succeed in every shape", async () => {
    odd.answerWith(() => new Response(marks.transcript, plain));
    expect((await send(await marked({ response_format: "text" }))).text).toBe(marks.transcript);
    expect((await send(await marked({ response_format: "srt" }), translationsPath)).text).toBe(marks.transcript);
    const stream = eventsOf(
      { type: "transcript.text.delta", delta: marks.transcript },
      { type: "transcript.text.done", text: marks.transcript },
    );
    odd.answerWith(() => new Response(stream, events));
    expect((await send(await marked({ stream: "true" }))).text).toBe(stream);
    // Converted for upstreams with another format.
    odd.answerWith(() => Response.json(heard));
    for (const response_format of ["json", "verbose_json", "vtt", "diarized_json"]) {
      const { text } = await send(
        await marked({ model: "odd-xai/grok-stt", response_format, "keywords[]": marks.prompt }),
      );
      expect(text).toContain(marks.transcript);
    }
  });

  test("of speech that succeed", async () => {
    odd.answerWith(() => new Response(marks.speech, { headers: { "content-type": "audio/pcm" } }));
    expect((await send(spoken, speechPath)).text).toBe(marks.speech);
    expect((await send({ ...spoken, model: "odd-xai/grok-tts", instructions: "" }, speechPath)).text).toBe(
      marks.speech,
    );
    const audio = Buffer.from(marks.speech).toString("base64");
    const stream = eventsOf({ type: "speech.audio.delta", audio }, { type: "speech.audio.done" });
    odd.answerWith(() => new Response(stream, events));
    expect((await send({ ...spoken, stream_format: "sse" }, speechPath)).text).toBe(stream);
  });

  test("that the upstream fails, with its own message and without any", async () => {
    for (const answer of [
      () => Response.json(failure, { status: 400 }),
      () => Response.json(failure, { status: 500 }),
      () => Response.json(failure),
      () => new Response(`{"text":"${marks.transcript}`, { headers: { "content-type": "application/json" } }),
      () => new Response(eventsOf({ type: "error", ...failure }), events),
      () => new Response(eventsOf({ type: "transcript.text.delta", delta: marks.transcript }), events),
    ]) {
      odd.answerWith(answer);
      for (const seconds of lengths) await send(await marked({}, seconds)).catch(String);
      await send(await marked({ stream: "true" })).catch(String);
      await send(spoken, speechPath).catch(String);
      await send({ ...spoken, stream_format: "sse" }, speechPath).catch(String);
    }
    expect(odd.requests.length).toBeGreaterThan(0);
    // In the middle of an answer that is no JSON.
    await send(await marked({ model: "local/some-whisper+cut-1", response_format: "text" })).catch(String);
    await send({ ...spoken, model: "openai/gpt-4o-mini-tts+cut-1" }, speechPath).catch(String);
    expect(rig.simulators.total()).toBe(2);
  });

  test("that are refused", async () => {
    odd.answerWith(() => Response.json(heard));
    const poor = await rig.gateway.token({ user: "poor", credits: undefined });
    const statuses: number[] = [];
    for (const seconds of lengths) {
      statuses.push((await send(await marked({}, seconds), transcriptionsPath, poor)).status);
      statuses.push((await send(await marked({ model: `${marks.prompt}/x` }, seconds))).status);
      statuses.push(
        (await send(await marked({ model: "xai/grok-stt", response_format: marks.prompt }, seconds))).status,
      );
      statuses.push((await send(await marked({ temperature: marks.prompt, stream: marks.prompt }, seconds))).status);
    }
    expect(statuses).toEqual([402, 404, 422, 422, 402, 404, 422, 422]);
    expect((await send(await marked({ [marks.prompt]: "x\0" }, 300))).status).toBe(413);
    expect((await send(spoken, speechPath, poor)).status).toBe(402);
    expect((await send({ ...spoken, voice: { [marks.text]: marks.text } }, speechPath)).status).toBe(422);
    expect(odd.requests).toHaveLength(0);
  });

  test.each(lengths)("whose client disconnects in the middle of %d seconds", async (seconds) => {
    const request = new Request(rig.gateway.url, { method: "POST", body: await marked({}, seconds) });
    const contentType = request.headers.get("content-type");
    const body = Buffer.from(await request.arrayBuffer());
    const connection = await openRaw(rig.gateway.url);
    const head = [
      `POST ${transcriptionsPath} HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${caller.token}`,
      `content-type: ${contentType}`,
      `content-length: ${body.length + 1}`,
    ];
    const before = interruptions().length;
    connection.socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const written = Promise.withResolvers<void>();
    connection.socket.write(body, () => written.resolve());
    await written.promise;
    connection.socket.destroy();
    await until("the gateway notices", () => interruptions().length > before);
  });

  test("whose client disconnects during the upstream's work; its file has no name all the while", async () => {
    const form = await marked({}, 100);
    await leaveBeforeAnswer(
      odd,
      () => Response.json(heard),
      (signal) => post(rig, transcriptionsPath, caller.token, form, { signal }),
      {
        meanwhile: () => expect([spool.files(), spool.openIn(rig.gateway.process.pid)]).toEqual([[], hasProc ? 1 : 0]),
      },
    );
    await caller.closed();
  });

  test("that can be sent again keep their answer, and nothing that was sent", async () => {
    odd.answerWith(() => Response.json({ text: keptMark }));
    const { text } = await send(await marked(), transcriptionsPath, caller.token, { "idempotency-key": "k" });
    expect(text).toContain(keptMark);
    expect(await tablesWith(rig.gateway.storage, keptMark)).toHaveLength(1);
  });
});

function interruptions(): Record<string, unknown>[] {
  return rig.gateway.logLines().filter((line) => line["error"] === "request_interrupted");
}

/** A text as it is, in hexadecimal digits, and in Base64 wherever it may begin. */
function spellingsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
      .toString("base64")
      .slice(4, -4),
  );
  return [text, Buffer.from(text).toString("hex"), ...base64];
}

describe("afterwards", () => {
  const spellings = Object.values(marks).flatMap(spellingsOf);

  test("no line of the log has a word of it", async () => {
    const { id } = await send({}, "/v1/last");
    await lineOf(id);
    const lines = rig.gateway.log().split("\n");
    expect(lines.length).toBeGreaterThan(60);
    for (const mark of [...spellings, ...spellingsOf(keptMark)]) {
      expect(lines.filter((line) => line.includes(mark))).toEqual([]);
    }
    expect(lines.filter((line) => line.includes('"meeting.wav"')).length).toBeGreaterThan(20);
  });

  test("no table has", async () => {
    for (const mark of spellings) expect(await tablesWith(rig.gateway.storage, mark)).toEqual([]);
  });

  test("no byte of the storage contains it, including deleted and pending data", () => {
    const files = readdirSync(rig.gateway.folder).filter((name) => name.startsWith("tollgate.db"));
    expect(files.length).toBeGreaterThan(1);
    const dump = files.map((name) => readFileSync(join(rig.gateway.folder, name)).toString("latin1")).join("");
    // The expected content exists.
    expect([dump.includes(keptMark), dump.includes("whisper")]).toEqual([true, true]);
    for (const mark of spellings) expect([mark, dump.includes(mark)]).toEqual([mark, false]);
  });

  test("the temporary folder is empty, and no file of it is open", () => {
    expect([spool.files(), spool.openIn(rig.gateway.process.pid)]).toEqual([[], 0]);
  });
});
