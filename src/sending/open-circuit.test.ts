/** Repeats at a target whose circuit is open: a call without another target is made all the same, once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Circuits } from "../routing/index.ts";
import {
  type Behaviour,
  down,
  fails,
  firstKey,
  ok,
  refusalOf,
  secondKey,
  SendScene,
} from "./__fixtures__/send-scene.ts";

let scene: SendScene;
let circuits: Circuits;
beforeEach(() => {
  scene = new SendScene();
  circuits = new Circuits({ clock: () => scene.now, random: () => 0.5, onChange: () => undefined });
});
afterEach(() => scene.stop());

/** The number of requests that a call causes. */
async function requestsOf(behaviour: Behaviour): Promise<number> {
  scene.fetched = [];
  const sent = scene.send({ behaviours: [behaviour], circuits }).catch(() => undefined);
  await scene.until(60_000);
  await sent;
  return scene.fetched.length;
}

test("an open circuit ends the repeats, not the calls", async () => {
  expect(await requestsOf(down)).toBe(3);
  expect([await requestsOf(down), await requestsOf(down)]).toEqual([1, 1]);
  await scene.advance(5_000);
  // Half-open, and open again.
  expect([await requestsOf(down), await requestsOf(down)]).toEqual([1, 1]);
  expect(await requestsOf(ok)).toBe(1);
  await scene.advance(8_000);
  expect([circuits.open, await requestsOf(down)]).toEqual([0, 3]);
});

test("the third failure ends the repeats of the call that it belongs to", async () => {
  const options = { retries: 7 };
  const sent = scene.send({ behaviours: [fails(500)], options, circuits });
  await scene.until(60_000);
  expect([await sent, scene.fetched.length]).toMatchObject([{ status: 500 }, 3]);
});

test("faults of the request never count", async () => {
  for (let times = 0; times < 5; times += 1) expect(await requestsOf(fails(400))).toBe(1);
  expect([circuits.openings, circuits.isWatching]).toEqual([0, false]);
});

test("a key that is refused time and again is not asked any more, nor by a call without another target", async () => {
  const refusals: unknown[] = [];
  for (let times = 0; times < 5; times += 1) {
    const sent = scene.send({ behaviours: [fails(401)], circuits }).catch((thrown: unknown) => refusals.push(thrown));
    await scene.until(1_000);
    await sent;
  }
  expect(scene.fetched).toHaveLength(3);
  expect(refusals).toMatchObject(Array.from({ length: 5 }, () => ({ code: "provider_key_refused" })));
  await scene.advance(60_000);
  expect([await requestsOf(ok), await requestsOf(ok)]).toEqual([1, 1]);
});

test("a key that may not write goes on reading at the same path", async () => {
  const refused = { code: "provider_key_refused" };
  for (let times = 0; times < 3; times += 1)
    expect(await refusalOf(scene.send({ behaviours: [fails(401)] }))).toMatchObject(refused);
  for (const method of ["GET", "DELETE"] as const)
    expect(await scene.send({ behaviours: [ok], method })).toMatchObject({ status: 200 });
  expect(scene.keys.refused).toMatchObject([{ operation: "/chat/completions" }]);
  expect(await refusalOf(scene.send({ behaviours: [ok] }))).toMatchObject(refused);
  scene.fetched = [];
  for (let times = 0; times < 3; times += 1) await refusalOf(scene.send({ behaviours: [fails(401)], method: "GET" }));
  expect(scene.keys.refused.map(({ operation }) => operation)).toEqual(["/chat/completions", "GET:/chat/completions"]);
  await refusalOf(scene.send({ behaviours: [ok], method: "GET" }));
  expect([scene.fetched.length, await scene.send({ behaviours: [ok], method: "DELETE" })]).toMatchObject([
    3,
    { status: 200 },
  ]);
});

test("a quota that is used up is that of a key: the next one is asked", async () => {
  scene.keys = scene.keyPool(firstKey, secondKey);
  const sent = scene.send({ behaviours: [fails(402), ok], circuits });
  await scene.until(1_000);
  expect([await sent, scene.fetched.map(({ key }) => key)]).toMatchObject([{ status: 200 }, [firstKey, secondKey]]);
});

test("a limit of one key counts only if there is no other key", async () => {
  scene.keys = scene.keyPool(firstKey, secondKey);
  for (let times = 0; times < 6; times += 1) {
    scene.fetched = [];
    const limited = scene.send({ behaviours: [fails(429), ok], circuits });
    await scene.until(60_000);
    expect([await limited, scene.fetched.length]).toMatchObject([{ status: 200 }, 2]);
    await scene.advance(6_000);
  }
  expect(circuits.openings).toBe(0);
});
