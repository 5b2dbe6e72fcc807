import { expect, test } from "bun:test";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { ServerError } from "./client/server-answer.ts";
import type { ToolSource } from "./server-access.ts";
import { ServerList } from "./server-list.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Scene {
  request: ToolSource["request"];
  clock?: () => number;
  wait?: (milliseconds: number) => Promise<void>;
  logger?: Logger;
}

function listOf({ request, clock = () => 1, wait = () => new Promise(() => undefined), logger }: Scene): ServerList {
  const source = { request };
  return new ServerList(
    {
      name: "s",
      pins: undefined,
      tools: undefined,
      clock,
      wait,
      logger: logger ?? createLogger({ level: "silent" }),
    },
    { key: "", owner: "", lists: source, calls: source, secrets: () => [] },
  );
}

test("the log has the code of a server's refusal, and nothing that the server has written", async () => {
  const lines: object[] = [];
  const logger = { ...createLogger({ level: "silent" }), warn: (fields: object) => void lines.push(fields) };
  const refusal = new ServerError(-32_000, "not with Bearer s3cret", { sent: "s3cret" });
  expect(await listOf({ request: () => Promise.reject(refusal), logger }).tools()).toBeUndefined();
  expect(lines).toEqual([{ server: "s", code: -32_000 }]);
});

test("a server that says all the time that its list has changed is asked for it every two seconds", async () => {
  let now = 1_000_000;
  let asked = 0;
  const waits: { until: number; resolve: () => void }[] = [];
  const request = () => {
    asked += 1;
    const tools = [{ name: `tool_${asked}`, inputSchema: { type: "object" } }];
    return Promise.resolve({ tools });
  };
  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => waits.push({ until: now + milliseconds, resolve }));
  const list = listOf({ request, clock: () => now, wait });
  expect([...((await list.tools()) ?? [])].map(([name]) => name)).toEqual(["tool_1"]);
  for (let passed = 0; passed < 10_000; passed += 100) {
    for (let count = 0; count < 10; count += 1) list.refresh();
    // A caller does not bring it forward either.
    void list.tools();
    await turn();
    now += 100;
    for (const { until, resolve } of waits) if (until <= now) resolve();
    await turn();
  }
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThanOrEqual(6);
  expect([...((await list.tools()) ?? [])].map(([name]) => name)).toEqual([`tool_${asked}`]);
});
