import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { CallAborter, type JsonObject } from "../core/index.ts";
import { Ticker } from "../streaming/index.ts";
import { Outgoing } from "./outgoing.ts";
import { type ForwardedAnswer, Questions } from "./questions.ts";

const mine = { owner: "token1", session: "s1" };
const question = { method: "roots/list", params: {} };

/** Processes with one clock. Those that are asked forward to nobody. */
function createScene() {
  let now = 0;
  let onTick = (): void => undefined;
  const ticker = new Ticker(1, () => now, { every: (_ms, run) => ((onTick = run), () => undefined) });
  const sent: JsonObject[] = [];
  const forwarded: ForwardedAnswer[] = [];
  const place = { isThere: true };
  const outgoing = new Outgoing(ticker, 1, () => undefined);
  outgoing.ask = outgoing.notify = (message) => void sent.push(JSON.parse(message) as JsonObject);
  const start = (process: string): Questions =>
    new Questions({
      randomBytes: (size) => randomBytes(size),
      ticker,
      clock: () => now,
      sealing: { seal: (text, owner) => JSON.stringify([text, owner]), open: (id) => (JSON.parse(id) as [string])[0] },
      process,
      forward: (_process, answer) => {
        if (place.isThere) forwarded.push(answer);
        return Promise.resolve(place.isThere);
      },
    });
  const ask = (questions: Questions, owner = mine): { id: unknown; answered: Promise<unknown> } => {
    const answered = questions.ask(owner, outgoing, { ...question, signal: new CallAborter() });
    return { id: sent.at(-1)?.["id"], answered: answered.catch((reason: unknown) => reason) };
  };
  const pass = (milliseconds: number): void => {
    now += milliseconds;
    onTick();
  };
  return { start, ask, pass, sent, forwarded, place };
}

test("a question that the client does not answer in time ends, and the client hears of that", async () => {
  const { start, ask, pass, sent } = createScene();
  const questions = start("here");
  const { id, answered } = ask(questions);
  pass(10 * 60_000);
  expect(await answered).toMatchObject({ code: -32_600, message: "The client has not answered in time." });
  expect(sent.at(-1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } });
  await questions.answer(mine, { id, result: {} });
});

test("a token has a number of open questions, and others have theirs", async () => {
  const { start, ask } = createScene();
  const questions = start("here");
  const asked = Array.from({ length: 20 }, () => ask(questions));
  expect(await ask(questions).answered).toMatchObject({ code: -32_600 });
  const other = { owner: "token2", session: "s2" };
  const { id, answered } = ask(questions, other);
  await questions.answer(other, { id, result: { roots: [] } });
  expect(await answered).toEqual({ roots: [] });
  await questions.answer(mine, { id: asked[0]?.id, result: { roots: [] } });
  expect(await asked[0]?.answered).toEqual({ roots: [] });
  const { id: next, answered: again } = ask(questions);
  await questions.answer(mine, { id: next, error: { code: 1, message: "no" } });
  expect(await again).toMatchObject({ code: 1, message: "no" });
});

test("an answer for another process is forwarded once, however often it comes, and only in time", async () => {
  const { start, ask, pass, forwarded, place } = createScene();
  const { id } = ask(start("there"));
  const here = start("here");
  place.isThere = false;
  expect(here.answer(mine, { id, result: {} })).rejects.toMatchObject({ code: "storage_unavailable" });
  place.isThere = true;
  for (let count = 0; count < 3; count += 1) await here.answer(mine, { id, result: { count } });
  expect(forwarded).toMatchObject([{ ...mine, answer: { result: { count: 0 } } }]);
  const { id: late } = ask(start("there"));
  pass(12 * 60_000);
  await here.answer(mine, { id: late, result: {} });
  expect(forwarded).toHaveLength(1);
});

test("an answer that is too long is refused before it is forwarded, and so is one to this process", async () => {
  const { start, ask, forwarded } = createScene();
  const [here, there] = [start("here"), start("there")];
  for (const { id } of [ask(here), ask(there)]) {
    const answer = { id, result: { text: "x".repeat(1024 * 1024) } };
    expect(here.answer(mine, answer)).rejects.toMatchObject({ status: 413 });
  }
  await Promise.resolve();
  expect(forwarded).toEqual([]);
});
