import { beforeEach, expect, test } from "bun:test";
import type { GatewayError } from "../core/index.ts";
import { type OpenAnswer, OpenAnswers } from "./open-answers.ts";
import { plainFound } from "../../test/kit/plain-token.ts";
import type { FoundToken } from "./store.ts";

let now: number;
let tick: () => void;
let answers: OpenAnswers;
let records: FoundToken[];
let find: (ids: readonly string[]) => Promise<FoundToken[]>;
let asked: (readonly string[])[];

beforeEach(() => {
  now = 1_000;
  asked = [];
  records = [];
  find = async (ids) => records.filter(({ id }) => ids.includes(id));
  answers = new OpenAnswers({
    store: {
      findAll(ids) {
        asked.push(ids);
        return find(ids);
      },
    },
    clock: () => now,
    every(milliseconds, onDue) {
      expect(milliseconds).toBe(1_000);
      tick = onDue;
      return () => (tick = () => undefined);
    },
  });
});

function issue(id: string, more: Partial<FoundToken> = {}): void {
  records = records.filter((record) => record.id !== id);
  records.push({ ...plainFound, id, ...more });
}

/** Opens an answer of this token; returns the codes of the errors that it got. */
function open(tokenId: string): { codes: string[]; answer: OpenAnswer } {
  const codes: string[] = [];
  const answer = { abort: (error: GatewayError) => void codes.push(error.code) };
  answers.add(answer, { tokenId });
  return { codes, answer };
}

async function check(): Promise<void> {
  tick();
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

test("answers end once their token is revoked, has expired or is gone, and those of other tokens go on", async () => {
  issue("revoked");
  issue("expires", { expiresAt: 2_000 });
  issue("gone");
  issue("stays");
  const tokens = ["revoked", "revoked", "expires", "gone", "stays"];
  const opened = tokens.map((token) => open(token).codes);
  await check();
  expect(opened.flat()).toEqual([]);
  issue("revoked", { revokedAt: 5 });
  records = records.filter(({ id }) => id !== "gone");
  now = 2_000;
  await check();
  expect(opened).toEqual([["token_revoked"], ["token_revoked"], ["token_expired"], ["token_revoked"], []]);
  await check();
  expect(opened.flat()).toHaveLength(4);
});

test("one query a second reads the distinct tokens, and none if nothing is open", async () => {
  issue("a");
  issue("b");
  await check();
  expect(asked).toEqual([]);
  const first = open("a");
  const others = ["a", "b", "a"].map(open);
  await check();
  expect(asked).toEqual([["a", "b"]]);
  for (const { answer } of [first, ...others]) answers.remove(answer);
  await check();
  expect(asked).toHaveLength(1);
});

test("answers go on while the storage is away, and no query follows one that hangs", async () => {
  issue("a", { revokedAt: 5 });
  const { codes } = open("a");
  find = () => {
    throw new Error("a store that throws at once");
  };
  await check();
  find = () => Promise.reject(new Error("away"));
  await check();
  expect(codes).toEqual([]);
  const gate = Promise.withResolvers<FoundToken[]>();
  find = () => gate.promise;
  await check();
  await check();
  expect(asked).toHaveLength(3);
  gate.resolve([]);
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  expect(codes).toEqual(["token_revoked"]);
});

test("an answer that was added while the tokens are read is checked the next time", async () => {
  issue("a");
  open("a");
  const gate = Promise.withResolvers<FoundToken[]>();
  find = () => gate.promise;
  await check();
  const late = open("late");
  gate.resolve([...records]);
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  expect(late.codes).toEqual([]);
});

test("a browser's session ends with the token that it was begun with, and with its own", async () => {
  issue("session");
  issue("source");
  const codes: string[] = [];
  const session = { id: "s", sourceId: "source", issuer: undefined, provedAt: 0, createdAt: 0, expiresAt: 9 };
  const watch = (): void =>
    answers.add({ abort: ({ code }: GatewayError) => void codes.push(code) }, { tokenId: "session", session });
  watch();
  await check();
  expect(codes).toEqual([]);
  issue("source", { pausedAt: 1 });
  await check();
  expect(codes).toEqual(["token_paused"]);
  issue("source");
  watch();
  issue("session", { revokedAt: 1 });
  await check();
  expect(codes).toEqual(["token_paused", "token_revoked"]);
});
