/** Recorded answers of providers with some of their bytes changed, read and translated for clients of each dialect. */
import fc from "fast-check";
import { type Dialect, GatewayError, type ObservedUsage, parseObject } from "../../src/core/index.ts";
import { streamOfAnswer, translateStream, translations } from "../../src/dialects/index.ts";
import { client, contextOf, observers } from "../recordings/answered.ts";
import { bytesOf, type Recording, recordings } from "../recordings/recordings.ts";
import { cutAt, cuts, mutate, mutations } from "./mutations.ts";
import { fuzzTarget } from "./target.ts";

const dialect = fc.constantFrom("chat", "messages", "responses", "gemini");
const ofKind = (stream: boolean) => recordings.filter((one) => one.status === 200 && one.stream === stream);

/** Only the gateway's own errors may come out; anything else would be a 500. */
function orRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** Every count is one that can be multiplied by a price. */
function expectCounts(usage: ObservedUsage | undefined): void {
  for (const [name, count] of Object.entries(usage?.usage ?? {})) {
    if (typeof count === "number" && !(Number.isSafeInteger(count) && count >= 0))
      throw new Error(`${name} is ${count}`);
  }
  if ((usage?.reportedCost ?? 0n) < 0n) throw new Error(`the cost is ${usage?.reportedCost}`);
}

/** The bytes for the client, and the usage, of a stream that arrives in these pieces. */
function translated(recording: Recording, to: Dialect, pieces: readonly Buffer[]) {
  const stream = translateStream({
    upstream: translations[recording.dialect],
    upstreamContext: contextOf(recording),
    client: translations[to],
    clientContext: client,
    charged: (told) => told?.usage ?? {},
  });
  return orRefused(() => {
    const shown = Buffer.concat([...pieces.map((piece) => stream.see(piece)), stream.close()]);
    return { shown: shown.toString("utf8"), usage: stream.usage };
  });
}

export const streams = fuzzTarget(
  "streams",
  fc.property(
    fc.constantFrom(...ofKind(true)),
    fc.oneof(fc.constant([]), mutations),
    cuts,
    dialect,
    (recording, applied, positions, to) => {
      const bytes = mutate(bytesOf(recording), applied);
      const whole = translated(recording, to, [Buffer.from(bytes)]);
      const cut = translated(recording, to, cutAt(bytes, positions));
      if (whole?.shown !== cut?.shown) throw new Error("in pieces it is another stream");
      if (!Bun.deepEquals(whole?.usage, cut?.usage)) throw new Error("in pieces it has another usage");
      expectCounts(whole?.usage);
      const observer = observers[recording.dialect](contextOf(recording).readUsage);
      for (const piece of cutAt(bytes, positions)) observer.see(piece);
      observer.close?.();
      expectCounts(observer.usage);
    },
  ),
);

export const answers = fuzzTarget(
  "answers",
  fc.property(fc.constantFrom(...ofKind(false)), mutations, dialect, (recording, applied, to) => {
    const parsed = parseObject(mutate(bytesOf(recording), applied).toString("utf8"));
    if (parsed === undefined) return;
    const context = contextOf(recording);
    expectCounts(orRefused(() => context.readUsage(parsed)));
    orRefused(() => {
      const answer = translations[recording.dialect].readAnswer(parsed, context);
      translations[to].writeAnswer(answer, client);
      streamOfAnswer(answer, translations[to], client);
    });
  }),
);
