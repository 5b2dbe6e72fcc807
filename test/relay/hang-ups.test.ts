import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import {
  type Caller,
  chatPath,
  contentOf,
  eachProvider,
  EventReader,
  type Rig,
  startRig,
  until,
} from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0, idle_timeout: "1s" } } });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  // Whatever was counted as a call under way would keep it from ending for a minute.
  const stopping = performance.now();
  await rig.stop();
  expect(performance.now() - stopping).toBeLessThan(15_000);
});

const [inputNano, outputNano] = [1_000n, 2_000n];
const words = 40;
const wordy = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: `words:${words}` }],
  stream: true,
  ...more,
});

/** Waits until the upstream has seen the end of its only request to this provider. */
function upstreamOutcome(provider: string): Promise<string> {
  return until(`the upstream of ${provider} sees the end`, () => {
    const mine = rig.simulators.requests().filter((request) => request.provider === provider);
    return mine.length === 1 && mine[0]?.outcome !== "open" && mine[0]?.outcome;
  });
}

/** The call lines of a caller in the log. */
function callsOf(caller: Caller): Record<string, unknown>[] {
  return rig.gateway.logLines().filter((line) => line["user"] === caller.user && line["msg"] === "call");
}

/** One charge, equal to the log's, and the logged end. */
async function expectOneCharge(caller: Caller, outcome: string): Promise<bigint> {
  const spent = await caller.closed();
  const calls = await until("the call's log line", () => callsOf(caller).length > 0 && callsOf(caller));
  expect(
    calls.map((call) => ({ outcome: call["outcome"], credits: Math.round(Number(call["credits"]) * 1e9) })),
  ).toEqual([{ outcome, credits: Number(spent) }]);
  return spent;
}

describe("a client that hangs up on a stream", () => {
  test("before the upstream has answered at all: charged for the input, which the upstream has received", () =>
    eachProvider(async (provider, model) => {
      const caller = await rig.caller();
      const leaving = new AbortController();
      const call = caller.chat(wordy(`${model}+slow-60000`), { signal: leaving.signal });
      await until("the request is there", () =>
        rig.simulators.requests().some((request) => request.provider === provider),
      );
      expect((await caller.books()).held).toBeGreaterThan(0n);
      leaving.abort();
      expect(await call.catch((reason: Error) => reason.name)).toBe("AbortError");
      expect(await upstreamOutcome(provider)).toBe("aborted");
      // 8 bytes and 16 for the template; four are a token.
      expect(await expectOneCharge(caller, "abandoned")).toBe(6n * inputNano);
    }));

  test("before the first event: charged for the input, which the upstream has read", () =>
    eachProvider(async (provider, model) => {
      const caller = await rig.caller();
      const leaving = new AbortController();
      const call = caller.chat(wordy(`${model}+stall-0`), { signal: leaving.signal });
      await until("the request is there", () =>
        rig.simulators.requests().some((request) => request.provider === provider),
      );
      // DeepSeek sends comments before its first event, the others nothing at all.
      const answer = await Promise.race([call, Bun.sleep(150)]);
      leaving.abort();
      await (answer instanceof Response ? answer.text() : call).catch(() => undefined);
      expect(await upstreamOutcome(provider)).toBe("aborted");
      // 8 bytes and 16 for the template; four are a token.
      expect(await expectOneCharge(caller, "abandoned")).toBe(6n * inputNano);
    }));

  // Named by how many events with data the upstream sends before it holds back the rest.
  test.each([1, 2, 20])("after %d events: charged for the part received until then", (events) =>
    eachProvider(async (provider, model) => {
      const caller = await rig.caller();
      const answer = await caller.chat(wordy(`${model}+stall-${events}`));
      const reader = new EventReader(answer);
      let seen = "";
      for (let left = events; left > 0;) {
        const event = (await reader.next()) ?? "";
        seen += event;
        if (event.startsWith("data:")) left -= 1;
      }
      await reader.cancel();
      expect(await upstreamOutcome(provider)).toBe("aborted");
      const spent = await expectOneCharge(caller, "abandoned");
      const said = BigInt(Math.ceil(contentOf(seen).length / 4));
      // Google reports its usage so far with every event: a token per word. A count of 0 beside text is none.
      const isCounted = provider === "google";
      const output = isCounted && events > 1 ? BigInt(events - 1) : said;
      expect(spent).toBe((isCounted ? 5n : 6n) * inputNano + output * outputNano);
    }),
  );

  test("after the last event, before the connection ends: charged for the whole, by its usage", () =>
    eachProvider(async (provider, model) => {
      const full = await rig.caller();
      await (await full.chat(wordy(model))).text();
      const wholePrice = await full.closed();
      rig.simulators.clear();

      const caller = await rig.caller();
      // Paced, so that the client disconnects while the upstream still has the connection open.
      const answer = await caller.chat(wordy(`${model}+stall-${(await eventCount(provider, model)) ?? 0}`));
      const reader = new EventReader(answer);
      for (let event = await reader.next(); !event?.startsWith("data: [DONE]"); event = await reader.next()) {
        if (event === undefined) throw new Error("the stream ended before [DONE]");
      }
      await reader.cancel();
      await until("the upstream is left", () =>
        rig.simulators.requests().every((request) => request.outcome !== "open"),
      );
      expect(await expectOneCharge(caller, "complete")).toBe(wholePrice);
    }));

  test("at any moment: every hold ends, no upstream is left running, no call is charged above its whole price", async () => {
    const full = await rig.caller();
    await (await full.chat(wordy("openai/gpt-4o-mini"))).text();
    const wholePrice = await full.closed();

    const caller = await rig.caller();
    const calls = 300;
    const hangUp = async (index: number): Promise<void> => {
      const leaving = new AbortController();
      const timer = setTimeout(() => leaving.abort(), (index * 7) % 60);
      try {
        const answer = await caller.chat(wordy("openai/gpt-4o-mini+slow-5+pace-1"), { signal: leaving.signal });
        await answer.text();
      } catch (reason) {
        if (!leaving.signal.aborted) throw reason;
      } finally {
        clearTimeout(timer);
      }
    };
    for (let start = 0; start < calls; start += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => hangUp(start + index)));
    }
    await until("no upstream is left running", () =>
      rig.simulators.requests().every((request) => request.outcome !== "open"),
    );
    const spent = await caller.closed();
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(wholePrice * BigInt(calls));
    const sum = (): number =>
      callsOf(caller).reduce((total, call) => total + Math.round(Number(call["credits"]) * 1e9), 0);
    await until("the log names every charge", () => BigInt(sum()) === spent);
    expect(new Set(callsOf(caller).map((call) => call["request_id"])).size).toBe(callsOf(caller).length);
  });
});

/** How many events with data a provider sends for the wordy call, `[DONE]` included. */
async function eventCount(provider: string, model: string): Promise<number> {
  const body = wordy(
    model.slice(provider.length + 1),
    provider === "mistral" ? {} : { stream_options: { include_usage: true } },
  );
  const text = await (await rig.direct(provider, body)).text();
  return text.split("\n").filter((line) => line.startsWith("data: ")).length;
}

/** A client that hangs up on a whole answer, a while after the upstream has received the request. */
async function leaveWhole(model: string, body: object, headers: Record<string, string> = {}): Promise<Caller> {
  const caller = await rig.caller();
  const leaving = new AbortController();
  const call = caller.chat({ ...wordy(model, { stream: false }), ...body }, { headers, signal: leaving.signal });
  await until("the request is there", () => rig.received(model.slice(model.indexOf("/") + 1)).length === 1);
  // What counts is time itself.
  await Bun.sleep(150);
  leaving.abort();
  await call.catch(() => undefined);
  return caller;
}

test("a client that hangs up on a whole text pays for its input, and for what the model can have written since", () =>
  eachProvider(async (provider, model) => {
    const began = performance.now();
    const caller = await leaveWhole(`${model}+slow-60000`, {});
    expect(await upstreamOutcome(provider)).toBe("aborted");
    const spent = await expectOneCharge(caller, "abandoned");
    const written = (spent - 6n * inputNano) / outputNano;
    expect(spent).toBe(6n * inputNano + written * outputNano);
    // Fifty tokens a second.
    expect(written).toBeGreaterThanOrEqual(7n);
    expect(written).toBeLessThanOrEqual(BigInt(Math.ceil((performance.now() - began) / 20)));
  }));

test("but no more than the request limits it to", () =>
  eachProvider(async (provider, model) => {
    // BytePlus's `max_tokens` leaves thought unlimited.
    const limit = provider === "byteplus" ? "max_completion_tokens" : "max_tokens";
    const caller = await leaveWhole(`${model}+slow-60000`, { [limit]: 3 });
    expect(await upstreamOutcome(provider)).toBe("aborted");
    expect(await expectOneCharge(caller, "abandoned")).toBe(6n * inputNano + 3n * outputNano);
  }));

test("with a retry key, a whole text is awaited and charged once, though its client has left", () =>
  eachProvider(async (provider, model) => {
    const full = await rig.caller();
    await (await full.chat(wordy(model, { stream: false }))).text();
    const wholePrice = await full.closed();

    const caller = await leaveWhole(`${model}+slow-1500`, {}, { "idempotency-key": `left-${provider}` });
    expect(await expectOneCharge(caller, "complete")).toBe(wholePrice);
    const [received] = rig.received(model.slice(provider.length + 1) + "+slow");
    expect(await until("the upstream has answered", () => received?.outcome !== "open" && received?.outcome)).toBe(
      "answered",
    );
  }));

test("a whole answer that is no text is awaited and charged, though its client has left", async () => {
  const caller = await rig.caller();
  const leaving = new AbortController();
  const call = fetch(`${rig.gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "openai/text-embedding-3-small+slow-1500", input: "eight ch" }),
    signal: leaving.signal,
  });
  await until("the request is there", () => rig.simulators.total() === 1);
  leaving.abort();
  await call.catch(() => undefined);
  expect(await expectOneCharge(caller, "complete")).toBeGreaterThan(0n);
  expect(rig.simulators.requests()[0]?.outcome).toBe("answered");
});

test("a client that hangs up on a whole text that then fails pays nothing", async () => {
  const headers = { "idempotency-key": "fails" };
  const caller = await leaveWhole("openai/gpt-4o-mini+slow-400+status-400", {}, headers);
  expect(await expectOneCharge(caller, "failed")).toBe(0n);
});

/** Sends a request on a new socket that the test controls completely. */
async function openSocket(text: string): Promise<Socket> {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    socket.on("connect", () => {
      socket.write(text, () => resolve());
    });
  });
  return socket;
}

function rawRequest(caller: Caller, body: string, length = Buffer.byteLength(body)): string {
  const head = [
    `POST ${chatPath} HTTP/1.1`,
    "host: tollgate",
    `authorization: Bearer ${caller.token}`,
    `content-length: ${length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

test("a connection that is reset is noticed as well", async () => {
  const caller = await rig.caller();
  const socket = await openSocket(rawRequest(caller, JSON.stringify(wordy("openai/gpt-4o-mini+stall-5"))));
  await new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
  });
  socket.resetAndDestroy();
  expect(await upstreamOutcome("openai")).toBe("aborted");
  expect(await expectOneCharge(caller, "abandoned")).toBeGreaterThan(0n);
});

test("a client that leaves within its request's body reaches no upstream and holds nothing", async () => {
  const caller = await rig.caller();
  const body = JSON.stringify(wordy("openai/gpt-4o-mini"));
  const socket = await openSocket(rawRequest(caller, body, body.length + 10));
  socket.destroy();
  await until("the refusal is logged", () =>
    rig.gateway.logLines().some((line) => line["error"] === "request_interrupted"),
  );
  expect(rig.simulators.total()).toBe(0);
  expect(await caller.books()).toEqual({ spent: 0n, held: 0n });
});

test("a client that stops reading, but stays, does not hold its credits for ever", async () => {
  const caller = await rig.caller();
  const body = JSON.stringify({
    ...wordy("openai/gpt-4o-mini"),
    messages: [{ role: "user", content: "words:200000" }],
  });
  const socket = await openSocket(rawRequest(caller, body));
  socket.pause();
  await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted", 8_000);
  const spent = await caller.closed();
  expect(spent).toBeGreaterThan(0n);
  socket.destroy();
});
