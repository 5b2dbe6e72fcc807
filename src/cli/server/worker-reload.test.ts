/** The answers of workers to a configuration, as their parent counts them. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type WorkerConfiguration, WorkerReloads } from "./worker-reload.ts";

const configuration = { missingKeys: [], simulated: [], refreshesCatalog: true } as unknown as WorkerConfiguration;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

class Worker {
  readonly received: string[] = [];
  isGone = false;
  send(message: { configuration: string }): void {
    if (this.isGone) throw new Error("the channel is closed");
    this.received.push(message.configuration);
  }
}

test("a worker that takes the configuration confirms it; one that refuses, ends or stays silent does not", async () => {
  const reloads = new WorkerReloads<Worker>();
  const [takes, refuses, ends, silent, gone] = Array.from({ length: 5 }, () => new Worker()) as [
    Worker,
    Worker,
    Worker,
    Worker,
    Worker,
  ];
  gone.isGone = true;
  const answers = [takes, refuses, ends, silent, gone].map((worker) => reloads.send(worker, configuration));
  reloads.receive(takes, { reconfigured: true });
  reloads.receive(refuses, { reconfigured: false });
  reloads.leave(ends);
  jest.advanceTimersByTime(30_000);
  expect(await Promise.all(answers)).toEqual([true, false, false, false, false]);
  expect(takes.received).toEqual([JSON.stringify(configuration)]);
  // Its late answer belongs to no reload any more.
  reloads.receive(silent, { reconfigured: true });
  const again = reloads.send(silent, configuration);
  reloads.receive(silent, { reconfigured: false });
  expect(await again).toBe(false);
});
