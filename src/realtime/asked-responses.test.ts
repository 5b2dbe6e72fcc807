/** Responses that the upstream was asked for, or begins by itself, and that have not begun when the session ends. */
import { afterEach, describe, expect, test } from "bun:test";
import { inputNano, outputNano, SessionScene } from "./__fixtures__/session-scene.ts";
import { tokensOfBytes } from "../core/index.ts";

const PLENTY = 100_000_000_000n;

/** The tokens of a session's own instructions. */
const FIRST_TOKENS = 1_000;

let scene: SessionScene;
afterEach(() => scene.stop());

async function start(nano = PLENTY): Promise<void> {
  scene = await SessionScene.start(nano);
}

function say(event: object): void {
  void scene.handler.message(JSON.stringify(event));
}

const request = { type: "response.create" };
const text = "x".repeat(4_000);
const item = { type: "message", role: "user", content: [{ type: "input_text", text }] };
const message = { type: "conversation.item.create", item };

/** What a response costs that has read these events and nothing else is known of. */
function wholeContext(...events: object[]): bigint {
  const tokens = events.reduce((sum, event) => sum + tokensOfBytes(JSON.stringify(event).length), FIRST_TOKENS);
  return BigInt(tokens) * inputNano;
}

/** The cost of responses that report so many tokens of output each. */
function reported(...tokens: number[]): bigint {
  return tokens.reduce((sum, each) => sum + inputNano + BigInt(each) * outputNano, 0n);
}

const outcomes = (): string[] => scene.work.ended.map(({ record }) => record.outcome);
const cancels = (): unknown[] =>
  scene.upstream.received.filter(({ type }) => type === "response.cancel").map(({ response_id: id }) => id);
const forwarded = (): number => scene.upstream.received.filter(({ type }) => type === "response.create").length;

async function leave(): Promise<void> {
  const closed = scene.handler.close(1006, "");
  await scene.seconds(3);
  await closed;
}

async function expectCharged(nano: bigint): Promise<void> {
  expect(await scene.work.balances()).toEqual({ charged: nano, held: 0n });
}

describe("a client that asks for a response and leaves before it has begun", () => {
  test("pays for its whole context if the upstream never reports", async () => {
    await start();
    say(message);
    say(request);
    await scene.settle();
    await leave();
    expect(cancels()).toEqual([undefined]);
    await expectCharged(wholeContext(message, request));
    expect(outcomes()).toEqual(["abandoned"]);
  });

  test("pays what the upstream reports within two seconds; what has begun is cancelled by its id", async () => {
    await start();
    say(request);
    await scene.settle();
    const closed = scene.handler.close(1006, "");
    await scene.settle();
    scene.begin("r");
    await scene.settle();
    expect(cancels()).toEqual([undefined, "r"]);
    scene.done("r", 10);
    await scene.settle();
    await closed;
    await expectCharged(reported(10));
  });

  test("pays for each that it has asked for", async () => {
    await start();
    for (let times = 0; times < 5; times += 1) say(request);
    await scene.settle();
    expect(forwarded()).toBe(5);
    await leave();
    expect(outcomes()).toEqual(Array.from({ length: 5 }, () => "abandoned"));
    const { charged } = await scene.work.balances();
    expect(charged).toBeGreaterThanOrEqual(5n * wholeContext());
  });

  test.each([
    ["the server stops", () => scene.handler.shutdown?.()],
    ["the client sends too many messages", () => Array.from({ length: 2_000 }, () => say({ type: "x" }))],
  ])("pays as well if %s", async (_, end) => {
    await start();
    say(request);
    await scene.settle();
    end();
    await scene.seconds(3);
    expect((await scene.work.balances()).charged).toBe(wholeContext(request));
  });

  test("pays nothing if the upstream breaks off", async () => {
    await start();
    say(request);
    await scene.settle();
    scene.upstream.hangUp(1006);
    await scene.seconds(3);
    await expectCharged(0n);
    expect(outcomes()).toEqual(["failed"]);
  });

  test("pays nothing if the upstream breaks off while it is cancelled", async () => {
    await start();
    say(request);
    await scene.settle();
    const closed = scene.handler.close(1006, "");
    await scene.settle();
    scene.upstream.hangUp(1006);
    await scene.settle();
    await closed;
    await expectCharged(0n);
  });

  test("pays nothing for what the upstream has refused, though its request had no id", async () => {
    await start();
    say(request);
    await scene.settle();
    const id = scene.upstream.received.at(-1)?.["event_id"];
    expect(id).toBeString();
    scene.upstream.emit({ type: "error", error: { code: "invalid_value", event_id: id } });
    await scene.settle();
    await leave();
    await expectCharged(0n);
    expect(outcomes()).toEqual([]);
  });
});

describe("a request for a response", () => {
  test("keeps its bytes, and gets an id if it has none", async () => {
    await start();
    const own = `{ "type":"response.create", "event_id" : "mine", "response":{"temperature":0.80} }`;
    void scene.handler.message(own);
    void scene.handler.message(`{"type":"response.create","response":{"temperature":0.80}}`);
    await scene.settle();
    expect(scene.upstream.texts[0]).toBe(own);
    expect(scene.upstream.texts[1]).toMatch(
      /^\{"event_id":"tollgate_[0-9a-f-]+","type":"response.create","response":\{"temperature":0.80\}\}$/,
    );
  });

  test("does not reach the upstream if it cannot be held; those that did are paid", async () => {
    // A hold is about 1,500 tokens of input and 1,000 of output.
    await start(300_000_000n);
    for (let times = 0; times < 50; times += 1) say(request);
    await scene.seconds(1);
    const asked = forwarded();
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(10);
    // A running response may still end.
    expect(scene.client.closed).toBeUndefined();
    for (let index = 0; index < asked; index += 1) {
      scene.begin(`r${index}`);
      scene.done(`r${index}`, 100);
    }
    await scene.seconds(3);
    expect(scene.client.closed).toBe(1008);
    expect(forwarded()).toBe(asked);
    expect(scene.client.ofType("response.done")).toHaveLength(asked);
    await expectCharged(BigInt(asked) * reported(100));
  });

  test("that cannot be held is not forwarded, and the client that leaves then pays for the others", async () => {
    await start(300_000_000n);
    for (let times = 0; times < 50; times += 1) say(request);
    await scene.seconds(1);
    const asked = forwarded();
    await leave();
    expect(outcomes()).toHaveLength(asked);
    expect((await scene.work.balances()).charged).toBeGreaterThanOrEqual(BigInt(asked) * wholeContext());
  });

  test("that is refused while another response runs leaves its hold for the next one", async () => {
    await start();
    scene.begin("r");
    await scene.settle();
    say(request);
    await scene.settle();
    scene.upstream.emit({ type: "error", error: { code: "conversation_already_has_active_response", event_id: null } });
    scene.done("r", 10);
    await scene.settle();
    say(request);
    await scene.settle();
    scene.begin("s");
    scene.done("s", 10);
    await scene.settle();
    await leave();
    await expectCharged(reported(10, 10));
  });
});

describe("a turn of the user", () => {
  const heard = [{ type: "input_audio_buffer.speech_started" }, { type: "input_audio_buffer.speech_stopped" }];
  const committed = { type: "input_audio_buffer.committed", item_id: "i" };
  const hear = (...events: object[]): void => {
    for (const event of events) scene.upstream.emit(event);
  };

  test("that the upstream has heard is answered, and paid although its client leaves before", async () => {
    await start();
    hear(...heard, committed);
    await scene.settle();
    await leave();
    await expectCharged(wholeContext());
    expect(outcomes()).toEqual(["abandoned"]);
  });

  test("whose answer begins is paid once", async () => {
    await start();
    hear(...heard, committed);
    await scene.settle();
    scene.begin("r");
    scene.done("r", 10);
    await scene.settle();
    await leave();
    await expectCharged(reported(10));
  });

  test.each<[string, object[]]>([
    ["the client has committed itself", [committed]],
    [
      "the session answers only when asked",
      [{ type: "session.updated", session: { turn_detection: { create_response: false } } }, ...heard, committed],
    ],
  ])("costs nothing by itself if %s", async (_, events) => {
    await start();
    hear(...events);
    await scene.settle();
    await leave();
    await expectCharged(0n);
  });
});

describe("usage whose beginning was never announced", () => {
  test("is charged, once however often it is reported", async () => {
    await start();
    scene.done("r", 10);
    scene.done("r", 10);
    await scene.settle();
    expect(scene.client.ofType("response.done")).toHaveLength(2);
    scene.begin("r");
    await leave();
    await expectCharged(reported(10));
  });

  test("is charged although nothing was held ahead", async () => {
    await start();
    scene.begin("q");
    scene.done("r", 10);
    scene.done("s", 20);
    scene.done("q", 30);
    await scene.seconds(1);
    await leave();
    await expectCharged(reported(10, 20, 30));
  });

  const transcribed = (id: string, tokens: number, more: object = {}): object => ({
    type: "conversation.item.input_audio_transcription.completed",
    item_id: id,
    transcript: "",
    usage: { type: "tokens", input_tokens: 0, output_tokens: tokens, input_token_details: { audio_tokens: 0 } },
    ...more,
  });
  const transcribe = (model: string | null): void => {
    const transcription = model === null ? null : { model };
    say({ type: "session.update", session: { audio: { input: { transcription } } } });
  };

  test("of a transcription is charged", async () => {
    await start();
    transcribe("t");
    await scene.settle();
    scene.upstream.emit(transcribed("i", 10));
    scene.upstream.emit(transcribed("i", 10));
    await scene.seconds(1);
    await leave();
    await expectCharged(10n * outputNano);
  });

  test("of a transcription is priced by the audio that was sent, where its upstream counts tokens", async () => {
    await start();
    transcribe("whisper");
    await scene.settle();
    // A second and a tenth, of 24,000 samples of two bytes each, and without a detection of speech.
    scene.upstream.emit({ type: "session.updated", session: { turn_detection: null } });
    say({ type: "input_audio_buffer.append", audio: Buffer.alloc(52_800).toString("base64") });
    scene.upstream.emit(transcribed("i", 30));
    await scene.seconds(1);
    say({ type: "input_audio_buffer.append", audio: Buffer.alloc(48_000).toString("base64") });
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "j" });
    scene.upstream.emit(transcribed("j", 30));
    await scene.seconds(1);
    await leave();
    // Billed by the whole second, 0.36 an hour.
    await expectCharged(300_000n);
  });

  test("of a transcription by a model that was replaced is charged to that model, and awaited by the session's end", async () => {
    await start();
    transcribe("t");
    await scene.settle();
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "i" });
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "j" });
    await scene.settle();
    transcribe("u");
    await scene.settle();
    scene.upstream.emit(transcribed("i", 10));
    await scene.settle();
    await leave();
    const records = scene.work.ended.map(({ record }) => [record.model, record.usage.output ?? 0]);
    expect(records[0]).toEqual(["t", 10]);
    expect(records.slice(1).map(([model]) => model)).toEqual(["t"]);
    expect((await scene.work.balances()).held).toBe(0n);
  });

  test("of a transcription that its client has ended meanwhile is charged", async () => {
    await start();
    transcribe("t");
    await scene.settle();
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "i" });
    transcribe(null);
    // The upstream took it before it read the update.
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "j" });
    await scene.settle();
    scene.upstream.emit({ type: "session.updated", session: { audio: { input: { transcription: null } } } });
    scene.upstream.emit(transcribed("i", 10));
    scene.upstream.emit(transcribed("j", 20));
    await scene.seconds(1);
    expect(scene.client.events.filter(({ transcript }) => transcript !== undefined)).toHaveLength(2);
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "k" });
    await leave();
    await expectCharged(30n * outputNano);
    expect(scene.work.ended.map(({ record }) => record.model)).toEqual(["t", "t"]);
  });

  test("of a transcription that nobody has asked for is charged to the session's model, once", async () => {
    await start();
    scene.upstream.emit(transcribed("h", 20, { usage: undefined }));
    scene.upstream.emit({ type: "input_audio_buffer.committed", item_id: "i" });
    scene.upstream.emit(transcribed("i", 10));
    scene.upstream.emit(transcribed("i", 10));
    await scene.seconds(1);
    await leave();
    // On its way when the session ended.
    scene.upstream.emitAnyway(transcribed("j", 20));
    await scene.settle();
    await expectCharged(10n * outputNano);
    expect(scene.work.ended.map(({ record }) => [record.operation, record.model])).toEqual([
      ["realtime_transcription", "m"],
    ]);
  });

  test("of a transcription holds nothing once the session has ended", async () => {
    await start();
    await leave();
    scene.upstream.emitAnyway(transcribed("i", 10));
    scene.upstream.emitAnyway({
      type: "session.updated",
      session: { audio: { input: { transcription: { model: "t" } } } },
    });
    await scene.settle();
    await expectCharged(0n);
  });
});
