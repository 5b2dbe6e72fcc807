import { expect } from "bun:test";
import type { Cell } from "./cell.ts";
import { sealedIn } from "./counts.ts";
import type { ClientResult } from "./driver.ts";
import type { Scenario } from "./table.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** The steps of each scenario, and its required results. */
export const plays: Readonly<Record<Scenario, (cell: Cell) => Promise<void>>> = {
  plain: (cell) => answersText(cell, false),
  streamed: (cell) => answersText(cell, true),
  tools: (cell) => callsTool(cell, { stream: false, thinks: false }),
  "parallel tools": callsTwoTools,
  image: seesImage,
  reasoning: (cell) => callsTool(cell, { stream: false, thinks: true }),
  "reasoning, streamed": (cell) => callsTool(cell, { stream: true, thinks: true }),
  error: keepsStatus,
  "error mid-stream": throwsMidStream,
  truncated: throwsWhenTruncated,
  "structured output": answersJson,
  "stop sequence": cutsAtStop,
  "max tokens": cutsAtLimit,
};

async function answersText(cell: Cell, stream: boolean): Promise<void> {
  const told = await cell.ask({ text: "Grüße", stream });
  const text = `You said: Grüße ${cell.mark}. That is all I have to say.`;
  expect(told).toMatchObject({ text, thoughts: "", calls: [], stop: "end" });
  if (stream) expect(cell.driver.streamed()).toBe(text);
  await cell.expectCounted(told);
}

async function callsTool(cell: Cell, { stream, thinks }: { stream: boolean; thinks: boolean }): Promise<void> {
  const called = await cell.ask({ text: "Weather in Paris?", stream, tools: 1, thinks });
  expect(called.calls).toMatchObject([{ name: "get_weather" }]);
  expect(JSON.parse(called.calls[0]?.arguments ?? "")).toEqual({ city: "sample city", days: 1 });
  expect(called.stop).toBe(toolStop(cell));
  await cell.expectCounted(called);
  if (thinks) await expectThought(cell, called);
  const told = await called.reply(["18 degrees"]);
  expect(told).toMatchObject({ text: "The tool answered: 18 degrees", calls: [], stop: "end" });
  await cell.expectCounted(told, 1);
  if (thinks) await expectSignaturesBack(cell);
}

async function expectThought(cell: Cell, { thoughts, usage }: ClientResult): Promise<void> {
  if (cell.gives("thoughts hidden") || cell.gives("ignored")) expect(thoughts).toBe("");
  else expect(thoughts).toContain("I consider the last one");
  // The call alone is fewer tokens than the thought.
  if (cell.gives("ignored")) expect(usage.output).toBeLessThan(15);
  else expect(usage.output).toBeGreaterThanOrEqual(15);
}

/** The data sealed by the provider in its first answer is in the second request, unchanged. */
async function expectSignaturesBack(cell: Cell): Promise<void> {
  const sealed = sealedIn(await cell.answerOf(0));
  const second = cell.received()[1]?.body ?? "";
  for (const one of sealed) expect(second).toContain(one);
  if (cell.spoken !== "chat") expect(sealed).not.toEqual([]);
}

async function callsTwoTools(cell: Cell): Promise<void> {
  const called = await cell.ask({ text: "In parallel, please.", stream: true, tools: 2 });
  expect(called.calls.map(({ name }) => name)).toEqual(["get_weather", "get_time"]);
  const inputs = called.calls.map((call) => JSON.parse(call.arguments) as unknown);
  expect(inputs).toEqual([{ city: "sample city", days: 1 }, { city: "sample city" }]);
  const ids = called.calls.map(({ id }) => id);
  // Google's older models have none, and match results by their names.
  if (cell.spoken !== "gemini" || cell.client !== "gemini") expect(new Set(ids).size).toBe(2);
  expect(called.stop).toBe(toolStop(cell));
  await cell.expectCounted(called);
  const told = await called.reply(["18 degrees", "noon"]);
  expect(told).toMatchObject({ text: "The tool answered: 18 degrees. The tool answered: noon", stop: "end" });
  await cell.expectCounted(told, 1);
}

function toolStop(cell: Cell): ClientResult["stop"] {
  return cell.gives("stop") ? "end" : "tools";
}

async function seesImage(cell: Cell): Promise<void> {
  const told = await cell.ask({ text: "What is this?", image: true });
  expect(told.text).toContain("I see image/png (70 bytes).");
  expect(told.stop).toBe("end");
  await cell.expectCounted(told);
}

async function keepsStatus(cell: Cell): Promise<void> {
  const statuses = [400, 404, 429, 500, 503];
  for (const stream of [false, true]) {
    for (const status of statuses) {
      const failure = await cell.failureOf(cell.ask({ text: "Hello", stream }, `+status-${status}`));
      expect(failure).toBeInstanceOf(cell.driver.errorClass(status));
      expect(failure.status).toBe(status);
      // The message of Google's SDK is the body.
      expect(failure.message).toMatch(/^(?:\d{3} |\{"error":\{).{5}/);
    }
  }
  const charged = await Promise.all(cell.driver.requestIds.map((_, index) => cell.generation(index)));
  expect(charged.map(({ outcome, credits }) => [outcome, credits])).toEqual(
    statuses.flatMap(() => [
      ["failed", 0],
      ["failed", 0],
    ]),
  );
}

async function throwsMidStream(cell: Cell): Promise<void> {
  const failure = await cell.failureOf(cell.ask({ text: "words:40", stream: true }, "+error-12+pace-5"));
  expect(cell.driver.streamed()).toStartWith("amber bridge");
  expect(cell.driver.streamed()).not.toContain("river");
  const overlooked = cell.gives("two errors");
  expect(failure.message).toMatch(overlooked ? /broke off/ : /capacity|overloaded|unavailable|busy|error/i);
  expect(await cell.generation(0)).toMatchObject({ outcome: overlooked ? "interrupted" : "failed" });
}

async function throwsWhenTruncated(cell: Cell): Promise<void> {
  const cut = await cell.failureOf(cell.ask({ text: "words:40", stream: true }, "+cut-12+pace-10"));
  expect(cut.message).toContain("broke off");
  expect(cell.driver.streamed()).toStartWith("amber bridge");
  expect(await cell.generation(0)).toMatchObject({ outcome: "interrupted" });
  const whole = await cell.failureOf(cell.ask({ text: "words:40" }, "+truncate"));
  expect(whole).toBeInstanceOf(cell.driver.errorClass(502));
  expect(whole.status).toBe(502);
}

async function answersJson(cell: Cell): Promise<void> {
  const asking = cell.ask({ text: "As JSON, please.", schema });
  if (cell.gives(400)) return expectRelayed(cell, 400, asking);
  const told = await asking;
  if (cell.gives("ignored")) expect(told.text).toStartWith("You said: As JSON, please.");
  else expect(JSON.parse(told.text)).toEqual({ city: "sample city" });
  expect(told.stop).toBe("end");
  await cell.expectCounted(told);
}

/** A refusal of the provider's own. */
async function expectRelayed(cell: Cell, status: number, call: Promise<unknown>): Promise<void> {
  const failure = await cell.failureOf(call);
  expect(failure).toBeInstanceOf(cell.driver.errorClass(status));
  expect(cell.received()).toHaveLength(1);
  expect(await cell.generation(0)).toMatchObject({ outcome: "failed", status, credits: 0 });
}

async function cutsAtStop(cell: Cell): Promise<void> {
  const asking = cell.ask({ text: "words:10", stop: "dawn" });
  if (cell.gives("not in the dialect")) return expectUncut(cell, asking);
  if (cell.gives("refused")) return expectRefused(cell, asking);
  const told = await asking;
  expect(told.text).toBe("amber bridge candle");
  expect(told.stop).toBe(cell.spoken === "messages" && cell.client === "messages" ? "stop-sequence" : "end");
  await cell.expectCounted(told);
}

/** A refusal of the gateway's, which reaches no provider. */
async function expectRefused(cell: Cell, asking: Promise<ClientResult>): Promise<void> {
  const failure = await cell.failureOf(asking);
  expect(failure).toBeInstanceOf(cell.driver.errorClass(422));
  expect(cell.received()).toEqual([]);
}

/** Another dialect's word for it is the upstream's to refuse or to overlook, and never taken for its own. */
async function expectUncut(cell: Cell, asking: Promise<ClientResult>): Promise<void> {
  const told = await asking.catch((reason: unknown) => reason);
  if (told instanceof cell.driver.errorClass(400)) return;
  expect(told).toHaveProperty("text", expect.stringContaining("dawn ember"));
}

async function cutsAtLimit(cell: Cell): Promise<void> {
  for (const [index, stream] of [false, true].entries()) {
    const told = await cell.ask({ text: "words:40", stream, tokensMax: 16 });
    expect(told.text.split(" ")).toHaveLength(16);
    expect(told.stop).toBe("length");
    await cell.expectCounted(told, index);
  }
}
