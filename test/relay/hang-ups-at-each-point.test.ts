/**
 * A client disconnects at each point of a stream, one after the other: charged for the usage observed until then, once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Caller,
  contentOf,
  engines,
  EventReader,
  eventsOf,
  isUsageChunk,
  query,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  until,
} from "../kit/index.ts";

const [inputNano, outputNano] = [1_000n, 2_000n];
const words = 9;
const body = (model: string): object => ({
  model,
  messages: [{ role: "user", content: `words:${words}` }],
  stream: true,
  // The client sees every event that the gateway sees.
  stream_options: { include_usage: true },
});

/** 7 bytes and 16 for the template, four a token; by the upstream's own count 5 tokens in and a word a token out. */
const estimatedInput = 6n * inputNano;
const reported = 5n * inputNano + BigInt(words) * outputNano;

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  /** The events of a whole stream, including `[DONE]`. */
  let events: string[];
  beforeAll(async () => {
    rig = await startRig({ ...(await storageOn(engine, postgres)), config: { upstream: { retries: 1 } } });
    const answer = await rig.direct("openai", body("gpt-4o-mini"));
    events = eventsOf(await answer.text()).filter((event) => event.startsWith("data:"));
  });
  afterAll(() => rig.stop());

  /** The cost of the call once `count` events have been observed. */
  function costAfter(count: number): bigint {
    const seen = events.slice(0, count);
    if (seen.some(isUsageChunk)) return reported;
    return estimatedInput + BigInt(Math.ceil(contentOf(seen.join("")).length / 4)) * outputNano;
  }

  /** The charges of a caller's calls, by the entries. */
  async function chargesOf(caller: Caller): Promise<bigint[]> {
    const account = `token:${caller.token.slice(3, 15)}`;
    const rows = await query<{ amount: bigint }>(
      rig.gateway.storage,
      `SELECT amount FROM entries WHERE debit_account = '${account}'`,
    );
    return rows.map(({ amount }) => amount);
  }

  async function expectOneCharge(caller: Caller, amount: bigint): Promise<void> {
    expect(await caller.closed()).toBe(amount);
    expect(await chargesOf(caller)).toEqual([amount]);
  }

  test("before the answer begins: charged for the input, which the upstream has received", async () => {
    const caller = await rig.caller();
    const leaving = new AbortController();
    const call = caller.chat(body("openai/gpt-4o-mini+slow-60000"), { signal: leaving.signal });
    await until("the upstream has it", () => rig.received("gpt-4o-mini+slow").length === 1);
    leaving.abort();
    expect(await call.catch((reason: Error) => reason.name)).toBe("AbortError");
    await expectOneCharge(caller, costAfter(0));
  });

  test("while the next attempt after a failed one is awaited: free, since the upstream refused the work", async () => {
    const caller = await rig.caller();
    const leaving = new AbortController();
    const call = caller.chat(body("openai/gpt-4o-mini+status-503+retry-after-5"), { signal: leaving.signal });
    await until("the first attempt has failed", () =>
      rig.gateway.logLines().some((line) => line["msg"] === "attempt failed" && line["retry_in_ms"] === 5_000),
    );
    leaving.abort();
    expect(await call.catch((reason: Error) => reason.name)).toBe("AbortError");
    await expectOneCharge(caller, 0n);
  });

  test("after each number of events: charged for those", async () => {
    expect(events.length).toBeGreaterThan(words);
    const hangUpAfter = async (count: number): Promise<void> => {
      const caller = await rig.caller();
      // After so many events the upstream sends nothing more, so the gateway has received exactly as many.
      const answer = await caller.chat(body(`openai/gpt-4o-mini+stall-${count}`));
      const reader = new EventReader(answer);
      for (let seen = 0; seen < count; seen += 1) expect(await reader.next()).toStartWith("data:");
      await reader.cancel();
      await expectOneCharge(caller, costAfter(count));
    };
    await Promise.all(Array.from({ length: events.length }, (_, count) => hangUpAfter(count + 1)));
  });
});
