import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatModels, type Rig, startRig } from "../kit/index.ts";

describe.each(["sockets", "fetch"] as const)("upstream.client: %s", (client) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ config: { upstream: { client } } });
  });
  afterAll(async () => {
    await rig.expectBalancedBooks();
    await rig.stop();
  });

  test.each(Object.entries(chatModels))("%s answers, streamed and whole", async (_provider, model) => {
    for (const stream of [false, true]) {
      const caller = await rig.caller();
      rig.simulators.clear();
      const answer = await caller.chat(JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }));
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(stream ? "data: [DONE]" : '"choices"');
      // Only fetch sends this header: HTTP/1.1 connections are kept open without it.
      const connection = client === "fetch" ? "keep-alive" : undefined;
      expect(rig.simulators.requests().map(({ headers }) => headers["connection"])).toEqual([connection]);
      expect(await caller.closed()).toBeGreaterThan(0n);
    }
  });
});
