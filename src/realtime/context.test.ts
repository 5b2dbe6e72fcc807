import { describe, expect, test } from "bun:test";
import { Context } from "./context.ts";

/** Base64 of this many seconds of PCM. */
const pcm = (seconds: number): number => (seconds * 48_000 * 4) / 3;

describe("the tokens that the next response reads", () => {
  test("grow with the audio of a client that commits it", () => {
    const context = new Context();
    context.configure({ audio: { input: { turn_detection: null } } });
    const before = context.most.audio;
    context.appendAudio(pcm(60));
    expect(context.most.audio - before).toBe(600);
    context.commitAudio();
    context.appendAudio(pcm(30));
    expect(context.most.audio - before).toBe(900);
    context.clearAudio();
    expect(context.most.audio - before).toBe(600);
  });

  test("grow little with silence, if the upstream detects speech, and fully with speech", () => {
    const context = new Context();
    context.appendAudio(pcm(3_600));
    expect(context.most.audio).toBe(300);
    context.speech(true);
    context.appendAudio(pcm(60));
    expect(context.most.audio).toBe(900);
  });

  test.each([
    [{ input_audio_format: "g711_ulaw" }, 8_000],
    [{ audio: { input: { format: { type: "audio/pcma" } } } }, 8_000],
    [{ audio: { input: { format: { type: "audio/pcm", rate: 16_000 } } } }, 32_000],
    [{ audio: { input: { format: { type: "audio/pcm" } } } }, 48_000],
  ])("depend on the format %j", (session, bytesPerSecond) => {
    const context = new Context();
    context.configure(session);
    expect(context.inputMsOf((bytesPerSecond * 4) / 3)).toBe(1_000);
  });

  test("count texts by the byte, audio and images in items by their kind", () => {
    const context = new Context();
    const { text } = context.most;
    const content = [
      { type: "input_text", text: "x" },
      { type: "input_audio", audio: "A".repeat(pcm(1)) },
      { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(1_000)}` },
    ];
    const item = { type: "message", role: "user", content };
    const bytes = JSON.stringify(item).length;
    context.addItem(item, bytes);
    expect(context.most).toEqual({ text: text + bytes - pcm(1) - 1_022, audio: 10, image: 20_000 });
  });

  test("are those of the last response once it has reported them", () => {
    const context = new Context();
    context.addText(5_000);
    context.replaceBy({ input: 10, cacheRead: 20, inputAudio: 3, cacheAudioRead: 4, output: 7, outputAudio: 8 });
    expect(context.most).toEqual({ text: 37, audio: 15, image: 0 });
    expect(context.likely).toMatchObject({ input: 0, cacheRead: 37, inputAudio: 0, cacheAudioRead: 15 });
  });
});
