/**
 * A conversation that continues with another provider, and returns: one provider's sealed data never reaches the other,
 * and its maker gets it back unchanged.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";
import { drivers } from "./matrix/cell.ts";
import { answerAgain, askedAgain, sealedIn } from "./matrix/counts.ts";
import { clients } from "./matrix/table.ts";
import { messagesOnly } from "./messages-only.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } }, providers: messagesOnly });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

/** Models that think; most of them seal their thoughts, or demand them back in a loop of calls. */
const models = [
  "openai/gpt-5-mini",
  "google/gemini-3-flash-preview",
  "xai/grok-4.3",
  "deepseek/deepseek-chat",
  "mistral/mistral-small-latest",
  "anthropic/claude-haiku-4-5",
  "native/claude-sonnet-4-6",
  "byteplus/seed-1-6-250915",
];
/** If the client's dialect is the provider's own, the bytes are the client's. */
const native: Readonly<Record<(typeof clients)[number], RegExp>> = {
  chat: /^(?!native)/,
  messages: /^(anthropic|native)/,
  responses: /^(openai|xai|byteplus)/,
  gemini: /^$/,
};

const pairs = models.flatMap((first) =>
  models.flatMap((second) => (first === second ? [] : [[first, second] as const])),
);

/**
 * The gateway does not fix bodies that pass unchanged: data sealed by two providers of the client's own dialect (but of Responses), a call
 * without reasoning sent to a provider that requires it (Anthropic), or a missing signature (Google).
 */
function mends(client: (typeof clients)[number], first: string, second: string): boolean {
  const [passes, passesToo] = [native[client].test(first), native[client].test(second)];
  // The ids of its items tell who made them.
  if (client === "responses") return true;
  if (passes && passesToo) return false;
  if (client === "chat" && first.startsWith("google")) return false;
  const bare = (model: string): boolean => model.startsWith("openai");
  return client !== "messages" || !((passes && bare(second)) || (passesToo && bare(first)));
}

describe.each([...clients])("a client of %s", (client) => {
  const mended = pairs.filter(([first, second]) => mends(client, first, second));

  test.concurrent.each(mended)("%s, %s, and back", async (first, second) => {
    const driver = drivers[client]({ url: rig.gateway.url, token });
    const mark = `(${client} ${first} ${second})`;
    const asked = { model: first, text: `weather in steps:2 ${mark}`, tools: 1, thinks: true };
    const called = await driver.ask(asked);
    expect(called.calls).toHaveLength(1);
    const again = await called.reply(["18 degrees"], second);
    expect(again.calls).toHaveLength(1);
    const told = await again.reply(["20 degrees"], first);
    expect(told.text).toBe("The tool answered: 20 degrees");

    const mine = rig.simulators.requests().filter(({ body }) => body.includes(mark));
    const [toFirst, toSecond, back] = mine.filter(({ headers }) => headers[askedAgain] === undefined);
    if (toFirst === undefined || toSecond === undefined || back === undefined) throw new Error("a call was not sent");
    expect(`${toFirst.body}${toSecond.body}${back.body}`).not.toContain("tollgate.");
    const sealed = sealedIn(await answerAgain(rig.simulators, toFirst));
    const foreign = sealedIn(await answerAgain(rig.simulators, toSecond));
    for (const one of sealed) expect(toSecond.body).not.toContain(one);
    for (const one of foreign) expect(back.body).not.toContain(one);
  });
});
