import { expect, test } from "bun:test";
import { createLogger } from "../telemetry/index.ts";
import { ServerList } from "./server-list.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a server that says all the time that its list has changed is asked for it every two seconds", async () => {
  let now = 1_000_000;
  let asked = 0;
  const waits: { until: number; resolve: () => void }[] = [];
  const request = () => {
    asked += 1;
    const tools = [{ name: `tool_${asked}`, inputSchema: { type: "object" } }];
    return Promise.resolve({ tools });
  };
  const source = { request };
  const list = new ServerList(
    {
      name: "s",
      pins: undefined,
      tools: undefined,
      clock: () => now,
      logger: createLogger({ level: "silent" }),
      wait: (milliseconds) => new Promise((resolve) => waits.push({ until: now + milliseconds, resolve })),
    },
    { key: "", owner: "", lists: source, calls: source, secrets: () => [] },
  );
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
