import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chatModels,
  comparable,
  contentOf,
  eachProvider,
  eventsOf,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
  withRoleOnce,
} from "../kit/index.ts";

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    providers: () => ({ scripted: { kind: "openai", base_url: upstream.url, api_key: "unused" } }),
    config: { upstream: { retries: 0, idle_timeout: "1s", first_byte_timeout: "1s" } },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

/** 40 words make some forty events. */
const wordy = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: "words:40" }],
  max_tokens: 500,
  ...more,
});

const broken = (code: string, message: string): object => ({
  error: { message, type: "upstream_error", code, param: null },
});
const brokeOff = broken("upstream_interrupted", "The upstream's stream broke off.");
const fellSilent = broken("upstream_timeout", "The upstream's stream fell silent.");
const eventOf = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

/** How the call was logged. */
function outcomeOf(response: Response): Promise<{ outcome: unknown; credits: bigint; error: unknown }> {
  const id = response.headers.get("x-request-id");
  return until("the call's log line", () => {
    const line = rig.gateway
      .logLines()
      .find((candidate) => candidate["request_id"] === id && candidate["msg"] === "call");
    return (
      line && {
        outcome: line["outcome"],
        credits: BigInt(Math.round(Number(line["credits"]) * 1e9)),
        error: line["error"],
      }
    );
  });
}

describe("a whole answer", () => {
  const invalid = broken("upstream_invalid_answer", "The upstream answered with something that is not a JSON object.");
  const interrupted = broken("upstream_interrupted", "The upstream's answer broke off.");
  const silent = broken("upstream_timeout", "The upstream's answer fell silent.");

  test("that is broken, breaks off or does not come: 502, and nothing is charged", async () => {
    const faults = {
      malformed: invalid,
      empty: invalid,
      truncate: interrupted,
      "cut-0": interrupted,
      "cut-1": interrupted,
      "slow-20000": broken("upstream_timeout", "The upstream did not begin to answer in time."),
      "stall-0": silent,
      "stall-1": silent,
    };
    // Side by side, since some of them wait for a time-out.
    const checks = Object.entries(faults).map(([fault, body]) =>
      eachProvider(async (_provider, model) => {
        const caller = await rig.caller();
        const answer = await caller.chat(wordy(`${model}+${fault}`));
        expect({ fault, body: await answer.json() }).toEqual({ fault, body });
        expect(answer.status).toBe(502);
        expect(answer.headers.get("content-type")).toStartWith("application/json");
        expect(await caller.closed()).toBe(0n);
      }),
    );
    await Promise.all(checks);
    await until("the upstreams are left", () =>
      rig.simulators.requests().every((request) => request.outcome !== "open"),
    );
  });

  test.each(Object.entries(chatModels))(
    "%s: an HTML page with status 502 is relayed as it is",
    async (provider, model) => {
      const caller = await rig.caller();
      const [answer, direct] = await Promise.all([
        caller.chat(wordy(`${model}+html-502`)),
        rig.direct(provider, wordy(`${model.slice(provider.length + 1)}+html-502`)),
      ]);
      expect(answer.status).toBe(502);
      expect(answer.headers.get("content-type")).toBe(direct.headers.get("content-type"));
      expect(await answer.bytes()).toEqual(await direct.bytes());
      expect(await caller.closed()).toBe(0n);
    },
  );

  test.each(["gzip", "huge-3"])("%s: relayed, decoded, whole", async (fault) => {
    const caller = await rig.caller();
    const [answer, direct] = await Promise.all([
      caller.chat(wordy(`openai/gpt-4o-mini+${fault}`)),
      rig.direct("openai", wordy(`gpt-4o-mini+${fault}`)),
    ]);
    const bytes = await answer.bytes();
    expect(answer.headers.has("content-encoding")).toBe(false);
    expect(answer.headers.get("content-length")).toBe(String(bytes.length));
    expect(bytes).toEqual(await direct.bytes());
    expect(await caller.closed()).toBeGreaterThan(0n);
  });

  test("an error whose own body breaks off or stalls keeps its status", async () => {
    await Promise.all(
      ["cut-1", "stall-1"].map(async (fault) => {
        const caller = await rig.caller();
        const answer = await caller.chat(wordy(`openai/gpt-4o-mini+status-500+${fault}`));
        expect(answer.status).toBe(500);
        await answer.text();
        expect(await caller.closed()).toBe(0n);
      }),
    );
  });
});

describe("a stream", () => {
  /**
   * A stream with a fault through the gateway, then the same request again straight to the simulator: `times-1` lets the
   * fault befall the first of them only, and the same bytes get the same answer.
   */
  async function brokenAndWhole(provider: string, fault: string) {
    const body = wordy(`${chatModels[provider]}+${fault}+times-1`, {
      stream: true,
      ...(provider === "mistral" ? {} : { stream_options: { include_usage: true } }),
    });
    const caller = await rig.caller();
    const answer = await caller.chat(body);
    expect(answer.status).toBe(200);
    const shown = await answer.text();
    const [request] = rig.received(`${chatModels[provider]?.slice(provider.length + 1)}+${fault}`);
    const direct = comparable(provider, await (await rig.direct(provider, request?.body ?? "")).text());
    return { caller, answer, shown: comparable(provider, shown), whole: withRoleOnce(direct), direct };
  }

  /** The first `count` events with data, and the comments before them. */
  function firstEvents(whole: string, count: number): string {
    const comments = eventsOf(whole).findIndex((event) => event.startsWith("data:"));
    return eventsOf(whole)
      .slice(0, comments + count)
      .join("");
  }

  test.each([0, 1, 10])(
    "cut after %d events: the received events, then an error event; charged for the received part",
    (events) =>
      eachProvider(async (provider) => {
        // Unread data is lost when a connection breaks. The pause leaves time to read; guaranteed is only that the
        // received data is the beginning of the whole.
        const { caller, answer, shown, whole } = await brokenAndWhole(provider, `cut-${events}+pace-2`);
        expect(shown).toEndWith(eventOf(brokeOff));
        const came = shown.slice(0, -eventOf(brokeOff).length);
        expect(firstEvents(whole, events)).toStartWith(came);
        const spent = await caller.closed();
        expect(spent > 0n).toBe(contentOf(came) !== "");
        // At most ten words were sent, of the forty that are 80,000 nano-credits.
        expect(spent).toBeLessThan(60_000n);
        // What had not begun to reach its client was not interrupted.
        expect(await outcomeOf(answer)).toEqual({
          outcome: came === "" ? "failed" : "interrupted",
          credits: spent,
          error: "upstream_interrupted",
        });
      }),
  );

  test.each([0, 10])("an error event of the upstream's own after %d events is passed on and ends it", (events) =>
    eachProvider(async (provider) => {
      const { caller, answer, shown, whole } = await brokenAndWhole(provider, `error-${events}`);
      const came = events === 0 ? "" : firstEvents(whole, events);
      expect(shown).toStartWith(came);
      const [error, ...others] = eventsOf(shown.slice(came.length)).filter((event) => !event.startsWith(":"));
      expect(error).toMatch(/^data: \{.*"(error|message)":/);
      // Mistral's error has no member that a client of this dialect looks for: one follows that has.
      expect(others.join("")).toBe(provider === "mistral" ? eventOf(brokeOff) : "");
      const spent = await caller.closed();
      // A failed call is free; the gateway takes Mistral's error for a break.
      expect(spent > 0n).toBe(events > 0 && provider === "mistral");
      const { outcome, credits } = await outcomeOf(answer);
      expect({ outcome, credits }).toEqual({
        outcome: provider === "mistral" ? "interrupted" : "failed",
        credits: spent,
      });
    }),
  );

  test("an empty one ends with an error event", () =>
    eachProvider(async (provider) => {
      const { caller, shown } = await brokenAndWhole(provider, "empty");
      expect(shown).toBe(eventOf(brokeOff));
      expect(await caller.closed()).toBe(0n);
    }));

  test("one with a line that is no JSON is the client's to judge", () =>
    eachProvider(async (provider) => {
      const { caller, shown, whole, direct } = await brokenAndWhole(provider, "malformed");
      const [sent, came] = [eventsOf(whole), eventsOf(shown)];
      const different = came.flatMap((event, index) =>
        event === sent[index] ? [] : [{ event, sent: eventsOf(direct)[index] ?? "" }],
      );
      expect(came).toHaveLength(sent.length);
      expect(different).toHaveLength(1);
      expect(different[0]?.sent).toStartWith(different[0]?.event.trimEnd() ?? "-");
      expect(await caller.closed()).toBeGreaterThan(0n);
    }));
});

test("a stream that falls silent ends with an error event, and its upstream is left", async () => {
  const calls = Object.entries(chatModels).flatMap(([provider, model]) =>
    [0, 1, 12].map(async (events) => {
      const caller = await rig.caller();
      const answer = await caller.chat(wordy(`${model}+stall-${events}`, { stream: true }));
      const shown = await answer.text();
      expect(shown).toEndWith(eventOf(fellSilent));
      expect(eventsOf(shown).filter((event) => event.startsWith("data:"))).toHaveLength(events + 1);
      const spent = await caller.closed();
      const said = events === 12 || (events === 1 && provider === "google");
      expect(spent > 0n).toBe(said);
      const outcome = shown === eventOf(fellSilent) ? "failed" : "interrupted";
      expect(await outcomeOf(answer)).toEqual({ outcome, credits: spent, error: "upstream_timeout" });
    }),
  );
  await Promise.all(calls);
  expect(rig.simulators.requests()).toHaveLength(calls.length);
  await until("the upstreams are left", () =>
    rig.simulators.requests().every((request) => request.outcome === "aborted"),
  );
});

test("a slow answer that keeps sending may take longer than the time-outs", async () => {
  const stream = async (): Promise<void> => {
    const caller = await rig.caller();
    const body = {
      model: "openai/gpt-4o-mini+pace-400",
      messages: [{ role: "user", content: "words:2" }],
      stream: true,
    };
    const answer = await caller.chat(body);
    expect(await answer.text()).toEndWith("data: [DONE]\n\n");
    expect((await outcomeOf(answer)).outcome).toBe("complete");
  };
  const whole = async (): Promise<void> => {
    const caller = await rig.caller();
    // White space before an answer that is still being made, as DeepSeek sends it.
    upstream.answerWith(() => {
      const pieces = [
        "\n",
        "\n",
        "\n",
        "\n",
        `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
      ];
      const trickle = async function* () {
        for (const piece of pieces) {
          await Bun.sleep(450);
          yield piece;
        }
      };
      return new Response(trickle(), { headers: { "content-type": "application/json" } });
    });
    const answer = await caller.chat(wordy("scripted/model"));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toStartWith("\n\n\n\n{");
    expect(await caller.closed()).toBe(3_000n);
  };
  const startedAt = performance.now();
  await Promise.all([stream(), whole()]);
  expect(performance.now() - startedAt).toBeGreaterThan(2_000);
});
