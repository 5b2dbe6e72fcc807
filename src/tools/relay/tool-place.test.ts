import { expect, test } from "bun:test";
import { CallAborter, Places } from "../../core/index.ts";
import { ToolPlace } from "./tool-place.ts";

const reasonOf = (promise: Promise<unknown> | undefined) => promise?.catch((reason: unknown) => reason);
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function scene() {
  const places = new Places({ what: "calls", places: 1 });
  const enter = (owner: string, signal = new CallAborter()) =>
    ToolPlace.enter({ places, owner, upstream: "s", signal });
  return { places, enter, place: await enter("ann") };
}

test("a call gives its place to others while its client is asked, and goes on once it has one again", async () => {
  const { places, enter, place } = await scene();
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer: string | undefined;
  const asked = place.without(() => promise).then((given) => (answer = given));
  const other = await enter("bob");
  resolve("yes");
  await turn();
  expect([answer, places.running, places.waiting]).toEqual([undefined, 1, 1]);
  other.end();
  expect(await asked).toBe("yes");
  expect(places.running).toBe(1);
  place.end();
  expect(places.running).toBe(0);
});

test("several questions at once take one place at the end, and a refusal is passed on", async () => {
  const { places, place } = await scene();
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const answers = [first, second].map(({ promise }) => place.without(() => promise));
  first.resolve("one");
  expect(await answers[0]).toBe("one");
  expect(places.running).toBe(0);
  second.reject(new Error("the client refuses"));
  expect(await reasonOf(answers[1])).toMatchObject({ message: "the client refuses" });
  expect(places.running).toBe(1);
  place.end();
  expect(places.running).toBe(0);
});

test("a call that ends while it waits for its place keeps none", async () => {
  const { places, enter, place } = await scene();
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked = place.without(() => promise);
  const other = await enter("bob");
  resolve();
  await turn();
  place.end();
  other.end();
  await asked;
  expect([places.running, places.waiting]).toEqual([0, 0]);
});

test("a call that is aborted while it waits for its place leaves the queue", async () => {
  const places = new Places({ what: "calls", places: 1 });
  const signal = new CallAborter();
  const place = await ToolPlace.enter({ places, owner: "ann", upstream: "s", signal });
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked = place.without(() => promise);
  const other = await ToolPlace.enter({ places, owner: "bob", upstream: "s", signal: new CallAborter() });
  resolve();
  await turn();
  signal.abort(new Error("the client left"));
  expect(await reasonOf(asked)).toMatchObject({ message: "the client left" });
  place.end();
  other.end();
  expect([places.running, places.waiting]).toEqual([0, 0]);
});
