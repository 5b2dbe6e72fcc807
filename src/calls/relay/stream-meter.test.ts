import { expect, test } from "bun:test";
import { limits } from "../../core/index.ts";
import { StreamMeter } from "./stream-meter.ts";

test("what waits for a raised hold is bounded, for an upstream that does not stop when it is paused", () => {
  let outputBytes = 0;
  let raised: Promise<void> | undefined = new Promise(() => undefined);
  const options = {
    observer: {
      get outputBytes() {
        return outputBytes;
      },
    },
    firstAllowance: 0,
    follow: () => ({ untilBytes: Number.POSITIVE_INFINITY, raised }),
  };
  const meter = new StreamMeter(options, (block) => {
    outputBytes += block.length;
    return true;
  });
  const event = Buffer.from(`data: ${"x".repeat(1024 * 1024 - 8)}\n\n`);
  expect(meter.push(event)).toBe(raised);
  const fitting = limits.wholeEventBytesMax / event.length;
  for (let pushed = 0; pushed < fitting; pushed += 1) expect(meter.push(event)).toBeUndefined();
  expect(() => meter.push(event)).toThrow("went on sending");
  expect(outputBytes).toBe(event.length);
  // The waiting events pass once the hold is raised.
  raised = undefined;
  expect(meter.resume()).toBeUndefined();
  expect(outputBytes).toBe(event.length * (1 + fitting));
  expect(meter.isWaiting).toBe(false);
});
