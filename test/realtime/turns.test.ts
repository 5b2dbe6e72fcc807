/** The events of a session: audio, interruption, tools, transcriptions, several responses at once. */
import { describe, expect, test } from "bun:test";
import { engines } from "../kit/index.ts";
import { type Client, costOf, nano, realtimeScene, usageOf, userText } from "./realtime-scene.ts";

/** A quarter of a second of PCM, loud or silent. */
const loud = Buffer.alloc(12_000, 0x11).toString("base64");
const silent = Buffer.alloc(12_000).toString("base64");

const append = (client: Client, audio: string): void => client.send({ type: "input_audio_buffer.append", audio });

describe.each(engines)("a session on %s", (engine) => {
  const scene = realtimeScene(engine);

  test("hears its user: a turn of audio is detected, answered with audio and charged by its tokens", async () => {
    const client = await scene.open();
    const done = client.next("response.done");
    for (let chunk = 0; chunk < 8; chunk += 1) append(client, loud);
    append(client, silent);
    const usage = usageOf(await done);
    // 2.25 seconds in, one out.
    expect(usage.input_token_details["audio_tokens"]).toBe(23);
    expect(usage.output_token_details["audio_tokens"]).toBe(20);
    expect(client.events.filter(({ type }) => type === "response.output_audio.delta")).toHaveLength(10);
    client.socket.close();
    expect(await scene.spent()).toBe(costOf(usage));
  });

  test("may be interrupted: the cancelled response is charged for what it generated", async () => {
    const client = await scene.open();
    client.say("realtime:slow seconds:60");
    client.send({ type: "response.create" });
    await client.event("response.output_audio.delta");
    const done = client.next("response.done");
    client.send({ type: "response.cancel" });
    const cancelled = await done;
    expect(cancelled["response"]).toMatchObject({ status: "cancelled" });
    const next = await client.ask("words:3");
    client.socket.close();
    expect(await scene.spent()).toBe(costOf(usageOf(cancelled)) + costOf(usageOf(next)));
    expect((await scene.generations()).map(({ outcome }) => outcome)).toEqual(["complete", "complete"]);
  });

  test("calls tools and reads their results", async () => {
    const client = await scene.open();
    const tool = {
      type: "function",
      name: "get_weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    };
    client.send({ type: "session.update", session: { type: "realtime", tools: [tool], output_modalities: ["text"] } });
    await client.event("session.updated");
    const called = await client.ask("Weather?", {});
    const { call_id: id } = await client.event("response.function_call_arguments.done");
    client.send({
      type: "conversation.item.create",
      item: { type: "function_call_output", call_id: id, output: "sunny" },
    });
    const done = client.next("response.done");
    client.send({ type: "response.create" });
    const answered = await done;
    expect(answered["response"]).toMatchObject({ output: [{ type: "message" }] });
    client.socket.close();
    expect(await scene.spent()).toBe(costOf(usageOf(called)) + costOf(usageOf(answered)));
  });

  test("may have responses beside its conversation; each is charged once", async () => {
    const client = await scene.open();
    client.say("words:5");
    const outOfBand = { conversation: "none", output_modalities: ["text"], input: [userText("words:4")] };
    for (let count = 0; count < 4; count += 1) client.send({ type: "response.create", response: outOfBand });
    client.send({ type: "response.create", response: { output_modalities: ["text"] } });
    const isDone = ({ type }: { type: string }): boolean => type === "response.done";
    await client.find("five ends", () => client.events.filter(isDone).length === 5);
    const cost = client.events.filter(isDone).reduce((sum, done) => sum + costOf(usageOf(done)), 0n);
    client.socket.close();
    expect(await scene.spent()).toBe(cost);
    expect(await scene.generations()).toHaveLength(5);
  });

  test("a refused request for a response holds nothing for it, and the session goes on", async () => {
    const client = await scene.open();
    client.say("realtime:slow seconds:60");
    client.send({ type: "response.create" });
    await client.event("response.created");
    client.send({ type: "response.create" });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "conversation_already_has_active_response" });
    client.send({ type: "response.cancel" });
    const first = await client.event("response.done");
    const second = await client.ask("words:2");
    client.socket.close();
    expect(await scene.spent()).toBe(costOf(usageOf(first)) + costOf(usageOf(second)));
  });

  test.each([
    // 1.25 seconds: 13 tokens of audio, 5 of text.
    ["gpt-4o-transcribe", 13n * 6_000n + 5n * 10_000n],
    // By the whole second: two of them.
    ["whisper-1", 200_000n],
    ["openai/whisper-1", 200_000n],
  ])("transcribes its input with %s, as a generation of that model", async (transcriber, cost) => {
    const client = await scene.open();
    const audio = { input: { transcription: { model: transcriber }, turn_detection: null } };
    client.send({ type: "session.update", session: { type: "realtime", audio } });
    await client.event("session.updated");
    for (let chunk = 0; chunk < 5; chunk += 1) append(client, loud);
    client.send({ type: "input_audio_buffer.commit" });
    await client.event("conversation.item.input_audio_transcription.completed");
    client.socket.close();
    expect(await scene.spent()).toBe(cost);
    expect(await scene.generations()).toMatchObject([
      { operation: "realtime_transcription", model: transcriber.replace("openai/", "") },
    ]);
  });

  test("transcribes with no model that its token may not use", async () => {
    const { token } = await scene.caller(1, { models: ["openai/gpt-realtime"] });
    const client = await scene.open({ token });
    const audio = { input: { transcription: { model: "gpt-4o-transcribe" }, turn_detection: null } };
    client.send({ type: "session.update", event_id: "mine", session: { type: "realtime", audio } });
    const { error } = await client.event("error");
    expect(error).toMatchObject({ event_id: "mine", param: "session.audio.input.transcription.model" });
    expect(JSON.stringify(error)).toContain("this token may not use it");
    client.socket.close();
  });

  test("may only transcribe", async () => {
    const client = await scene.open({ query: "intent=transcription&model=openai/gpt-4o-transcribe" });
    expect(scene.sockets()[0]?.path).toBe("/openai/v1/realtime?intent=transcription");
    await client.event("session.updated");
    const input = { transcription: { model: "gpt-4o-transcribe" }, turn_detection: null };
    const updated = client.next("session.updated");
    client.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
    await updated;
    for (let turn = 0; turn < 2; turn += 1) {
      append(client, loud);
      const completed = client.next("conversation.item.input_audio_transcription.completed");
      client.send({ type: "input_audio_buffer.commit" });
      await completed;
    }
    client.socket.close();
    // 0.25 seconds are three tokens of audio.
    expect(await scene.spent()).toBe(2n * (3n * 6_000n + 5n * 10_000n));
    expect(await scene.generations()).toHaveLength(2);
  });

  test("of a provider that bills time is charged for its connection", async () => {
    const begun = performance.now();
    const client = await scene.open({ query: "model=xai/grok-voice-latest" });
    const opened = performance.now();
    const done = await client.ask("Hello", {});
    expect(done["response"]).toMatchObject({ usage: null });
    expect((await scene.generations()).map(({ outcome }) => outcome)).toEqual(["complete"]);
    client.socket.close();
    const spent = Number(await scene.spent());
    const ended = performance.now();
    // 1,000 nano-credits a millisecond.
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual((ended - begun + 50) * 1_000);
    expect(opened).toBeGreaterThan(begun);
  });

  test("without usage in the end of a response is charged by what has passed", async () => {
    const client = await scene.open();
    client.say("realtime:no-usage seconds:4");
    const done = client.next("response.done");
    client.send({ type: "response.create" });
    await done;
    client.socket.close();
    const spent = await scene.spent();
    // 80 tokens of audio are 0.00512 credits; text and input are a little beside it.
    expect(spent).toBeGreaterThan(nano(0.005));
    expect(spent).toBeLessThan(nano(0.0085));
  });
});
