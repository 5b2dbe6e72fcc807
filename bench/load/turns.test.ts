import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { TurnSide, TurnsJob } from "./protocol.ts";
import { runTurns } from "./turns.ts";

const marker = "right";
const request = Buffer.from("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n").toString("base64");

/** One server that answers for both sides, each on its own port, and records the order of requests. */
describe("turns", () => {
  let answer = `{"text":"${marker}"}`;
  let asked: string[] = [];
  let ports = new Set<number>();
  let servers: Bun.Server<undefined>[] = [];

  function serve(name: string): Bun.Server<undefined> {
    return Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(asking, server) {
        if (asked.at(-1) !== name) asked.push(name);
        ports.add(server.requestIP(asking)?.port ?? 0);
        return new Response(answer, { headers: { "content-type": "application/json" } });
      },
    });
  }

  function jobOf(change: Partial<TurnsJob>): TurnsJob {
    const [left, right] = servers.map(({ port }): TurnSide => {
      const expectation = { kind: "json", marker } as const;
      return { port: port ?? 0, group: { callers: 4, request, expectation, pauseMs: 0, hangUpAfterEvents: null } };
    });
    if (left === undefined || right === undefined) throw new Error("two servers are needed");
    return { kind: "turns", sides: [left, right], first: 0, turns: 4, turnSeconds: 0.02, ...change };
  }

  beforeEach(() => {
    answer = `{"text":"${marker}"}`;
    asked = [];
    ports = new Set();
    servers = [serve("left"), serve("right")];
  });

  afterEach(() => Promise.all(servers.map((server) => server.stop(true))));

  test.each([
    [0, ["left", "right", "left", "right", "left"]],
    [1, ["right", "left", "right", "left", "right"]],
  ] as const)("of two sides never overlap, and each begins every other pair (first: %d)", async (first, order) => {
    await runTurns(jobOf({ first }));
    expect(asked).toEqual([...order]);
  });

  test("keep each caller's connection from turn to turn", async () => {
    const results = await runTurns(jobOf({}));
    expect(ports.size).toBe(8);
    expect(results.map(({ completed, problems }) => [completed > 16, problems.count])).toEqual([
      [true, 0],
      [true, 0],
    ]);
  });

  test("count wrong answers as problems of their side", async () => {
    answer = '{"text":"wrong"}';
    const results = await runTurns(jobOf({}));
    expect(results.map(({ completed, problems }) => [completed, problems.count > 0])).toEqual([
      [0, true],
      [0, true],
    ]);
  });
});
