import { afterEach, beforeEach, expect, test } from "bun:test";
import { runOpenLoop } from "./open-loop.ts";
import type { OpenLoopJob } from "./protocol.ts";

const marker = "right";
const request = Buffer.from("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n").toString("base64");
const right = `{"text":"${marker}"}`;

let asked: number;
let answer: (asked: number) => Promise<string>;
let server: Bun.Server<undefined>;

beforeEach(() => {
  asked = 0;
  answer = async () => right;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch() {
      asked += 1;
      return new Response(await answer(asked), { headers: { "content-type": "application/json" } });
    },
  });
});
afterEach(() => server.stop(true));

function jobOf(change: Partial<OpenLoopJob> = {}): OpenLoopJob {
  const expectation = { kind: "json", marker } as const;
  const rate = { perSecond: 1_000, seconds: 0.1, connections: 2, connectionsMax: 200 };
  return { kind: "open-loop", port: server.port ?? 0, request, expectation, ...rate, ...change };
}

test("sends every request of its rate", async () => {
  const result = await runOpenLoop(jobOf());
  expect([asked, result.completed, result.problems.count]).toEqual([100, 100, 0]);
});

test("goes on sending while no request is answered", async () => {
  const all = Promise.withResolvers<string>();
  answer = (count) => {
    // A closed loop would wait for the first answer forever.
    if (count === 100) all.resolve(right);
    return all.promise;
  };
  const result = await runOpenLoop(jobOf());
  expect([result.completed, result.problems.count]).toEqual([100, 0]);
  expect(result.connections).toBe(100);
});

test("counts a wait for a connection as latency of each request that was due", async () => {
  const first = Promise.withResolvers<string>();
  answer = (count) => {
    if (count > 1) return Promise.resolve(right);
    // The only connection is free again when all requests are due.
    setTimeout(() => first.resolve(right), 150);
    return first.promise;
  };
  const { latency, sendDelay } = await runOpenLoop(jobOf({ connections: 1, connectionsMax: 1 }));
  // The last request was due 100 ms after the first one, and waited for at least 50 ms.
  expect(latency.p50).toBeGreaterThan(50);
  expect(sendDelay.p50).toBeGreaterThan(50);
});

test("counts wrong answers as problems", async () => {
  answer = async () => '{"text":"wrong"}';
  const { completed, problems } = await runOpenLoop(jobOf({ seconds: 0.02 }));
  expect([completed, problems.count]).toEqual([0, 20]);
});
