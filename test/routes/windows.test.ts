/** Targets whose context window an input exceeds by far are not asked. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { chatPath, post, type Rig, startRig } from "../kit/index.ts";
import { type FailingUpstream, startFailingUpstream } from "./failing-upstream.ts";

/** A token is taken for four bytes. */
const WINDOW = 1_000;
const words = (tokens: number): string => "word".repeat(tokens);

let upstream: FailingUpstream;
let rig: Rig;
beforeAll(async () => {
  upstream = await startFailingUpstream();
  const route = (...names: string[]): object => ({ tiers: [names.map((name) => ({ model: `one/${name}` }))] });
  const small = { input_mtok: 1, output_mtok: 2, context_window: WINDOW };
  rig = await startRig({
    providers: () => ({ one: { kind: "openai", base_url: upstream.url, api_key: "k" } }),
    config: {
      upstream: { retries: 0 },
      pricing: {
        models: {
          "one/small": small,
          "one/tiny": small,
          "one/status-context_window": small,
          "*": { input_mtok: 1, output_mtok: 2 },
        },
      },
      routing: {
        routes: {
          first: route("small", "good"),
          later: route("status-overloaded", "small", "good"),
          last: route("small", "tiny"),
          refusing: route("small", "status-context_window"),
          other: { tiers: [[{ model: "one/small" }, { model: "one/good", on: ["overloaded"] }]] },
        },
      },
    },
  });
});
beforeEach(() => void upstream.asked.splice(0));
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

async function askedFor(model: string, tokens: number, status = 200): Promise<string[]> {
  const { token } = await rig.caller();
  const body = { model, max_tokens: 10, messages: [{ role: "user", content: words(tokens) }] };
  const answer = await post(rig, chatPath, token, body);
  await answer.text();
  expect(answer.status).toBe(status);
  return upstream.asked.splice(0);
}

test("as the first one, or as a later one", async () => {
  expect(await askedFor("first", 2 * WINDOW)).toEqual(["good"]);
  expect(await askedFor("later", 2 * WINDOW)).toEqual(["status-overloaded", "good"]);
});

test("unless it is a near case, which the provider decides", async () => {
  expect(await askedFor("first", 1.2 * WINDOW)).toEqual(["small"]);
});

test("unless there is no other target for it", async () => {
  expect(await askedFor("last", 2 * WINDOW)).toEqual(["tiny"]);
  expect(await askedFor("refusing", 2 * WINDOW, 400)).toEqual(["status-context_window"]);
  expect(await askedFor("other", 2 * WINDOW)).toEqual(["small"]);
  expect(await askedFor("one/small", 2 * WINDOW)).toEqual(["small"]);
});
