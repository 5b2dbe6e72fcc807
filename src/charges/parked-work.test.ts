import { expect, test } from "bun:test";
import { orderOf, priceOf } from "./__fixtures__/work-scene.ts";
import { fromParkedWork, type ParkedWork, toParkedWork } from "./parked-work.ts";

const holding = { reserves: [], amount: 5n };
const parkedAt = (markup: bigint): ParkedWork =>
  JSON.parse(JSON.stringify(toParkedWork(orderOf({ price: { ...priceOf("up"), markup } }), holding))) as ParkedWork;

test("parked work keeps the markup that it was ordered with", () => {
  expect(fromParkedWork(parkedAt(1_200_000n)).order.price.markup).toBe(1_200_000n);
});

test("also that of an older version, which had one for all prices", () => {
  const { price, ...parked } = parkedAt(1_000_000n);
  const { markup: _, ...older } = price;
  const { order } = fromParkedWork({ ...parked, price: older, markup: "1500000" });
  expect(order.price.markup).toBe(1_500_000n);
});

test("and the caller's span, as which its trace continues", () => {
  const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true, state: "x=1" };
  const parked = JSON.parse(JSON.stringify(toParkedWork(orderOf({ trace }), holding))) as ParkedWork;
  expect(fromParkedWork(parked).order.trace).toEqual(trace);
  expect(fromParkedWork(parkedAt(1n)).order).not.toHaveProperty("trace");
});
