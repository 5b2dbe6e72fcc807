import { describe, expect, test } from "bun:test";
import { failureOf } from "../../test/kit/failure-of.ts";
import { GatewayError } from "../core/index.ts";
import { VideoPolls } from "./video-polls.ts";

const timedOut = (): Promise<never> => Promise.reject(new GatewayError("upstream_timeout", "it took too long"));

describe("a provider", () => {
  const jobs = [1, 2, 3].flatMap(() => [
    { owner: "alice", upstream: "openai" },
    { owner: "bob", upstream: "openai" },
  ]);

  const askedAt = (polls: VideoPolls): number => {
    const grabbed = polls.places.grab(jobs);
    for (const { leave } of grabbed) leave();
    return grabbed.length;
  };

  test("that has not answered three times is asked about one job of each user, until it answers", async () => {
    const polls = new VideoPolls();
    for (const asked of [6, 6, 6, 2, 2]) {
      expect(askedAt(polls)).toBe(asked);
      await failureOf(polls.note("openai", timedOut()));
    }
    await polls.note("openai", Promise.resolve("an answer"));
    expect(askedAt(polls)).toBe(6);
  });

  test("that refuses, or cannot be reached, does not hang", async () => {
    const polls = new VideoPolls();
    const refused = new GatewayError("upstream_unreachable", "refused");
    for (let time = 0; time < 4; time += 1) await failureOf(polls.note("openai", Promise.reject(refused)));
    for (let time = 0; time < 4; time += 1) await failureOf(polls.note("xai", timedOut()));
    expect(askedAt(polls)).toBe(6);
  });
});

test("stopping ends what callers left to go on, and waits for it", async () => {
  const polls = new VideoPolls();
  let ended = false;
  void polls.begin(async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended = true;
  });
  await polls.stop();
  expect(ended).toBe(true);
  expect(await failureOf(polls.places.enter({ owner: "alice" }))).toMatchObject({ message: "the server stops" });
});
