import { expect, test } from "bun:test";
import type { ServerChange } from "../../mcp/index.ts";
import type { ServerAccess } from "../server-access.ts";
import { watchAsCaller } from "./caller-watch.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function scene(first: string | undefined) {
  let key = first;
  let failure: Error | undefined;
  const begun: string[] = [];
  const ended: string[] = [];
  const got: ServerChange[] = [];
  const waits: (() => void)[] = [];
  let looks = 0;
  const stop = await watchAsCaller({
    access: () => {
      looks += 1;
      if (failure !== undefined) throw failure;
      return Promise.resolve(key === undefined ? undefined : ({ key } as ServerAccess));
    },
    watchBy: (access) => ({
      add: () => {
        begun.push(access.key);
        return () => void ended.push(access.key);
      },
    }),
    listener: { uris: [], onChange: (change) => void got.push(change) },
    wait: () => new Promise((resolve) => waits.push(resolve)),
  });
  const lookWith = async (next: string | undefined, thrown?: Error): Promise<void> => {
    [key, failure] = [next, thrown];
    waits.shift()?.();
    await turn();
  };
  return { begun, ended, got, stop, lookWith, looks: () => looks, waits };
}

const allLists = [{ list: "tools" }, { list: "prompts" }, { list: "resources" }];

test("an account that is deleted is used no longer, and its lists have changed", async () => {
  const { begun, ended, got, lookWith } = await scene("a.1");
  await lookWith("a.1");
  expect([begun, ended, got]).toEqual([["a.1"], [], []]);
  await lookWith(undefined);
  expect([begun, ended, got]).toEqual([["a.1"], ["a.1"], allLists as ServerChange[]]);
  await lookWith(undefined);
  expect(got).toHaveLength(3);
});

test("an account that is replaced, or connected later, is followed", async () => {
  const { begun, ended, got, lookWith, stop } = await scene(undefined);
  await lookWith("a.1");
  await lookWith("a.2");
  expect([begun, ended, got.length]).toEqual([["a.1", "a.2"], ["a.1"], 6]);
  stop();
  expect(ended).toEqual(["a.1", "a.2"]);
  await lookWith("a.3");
  expect(begun).toEqual(["a.1", "a.2"]);
});

test("a storage that fails ends nothing", async () => {
  const { begun, ended, lookWith } = await scene("a.1");
  await lookWith("a.1", new Error("unavailable"));
  await lookWith("a.2");
  expect([begun, ended]).toEqual([["a.1", "a.2"], ["a.1"]]);
});

test("the operator's credentials are looked at once", async () => {
  const { waits, looks } = await scene("");
  expect([waits.length, looks()]).toEqual([0, 1]);
});
