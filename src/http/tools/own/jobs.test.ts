import { expect, test } from "bun:test";
import { answerJob } from "./jobs.ts";
import type { OwnCall } from "./own-tool.ts";

test.each([false, true])("a crawl whose client has gone while it was begun is ended (task: %p)", async (takesTasks) => {
  const cancelled: string[] = [];
  const crawls = {
    status: () => Promise.resolve(JSON.stringify({ status: "scraping", completed: 0, total: 5 })),
    cancel: ({ id }: { id: string }) => Promise.resolve(void cancelled.push(id)),
  };
  const call = {
    takesTasks,
    signal: AbortSignal.abort(),
    principal: {},
    services: { crawls, clock: () => 0, mcp: {} },
  } as unknown as OwnCall;
  await answerJob(call, { kind: "crawl", id: "one" }, {});
  await Promise.resolve();
  expect(cancelled).toEqual(["one"]);
});
