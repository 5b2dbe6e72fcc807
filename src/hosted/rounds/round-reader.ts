/** The answer of a round, whole or streamed, as answer events. */
import { GatewayError, type JsonObject, limits, type ObservedUsage, parseObject } from "../../core/index.ts";
import {
  type AnswerEvent,
  type DialectTranslation,
  eventsOfAnswer,
  nativeOrigin,
  type StreamReader,
  type UpstreamContext,
} from "../../dialects/index.ts";
import { dataOf, EventSplitter, eventsOf } from "../../streaming/index.ts";
import type { PaidAnswer } from "../../charges/index.ts";

interface RoundReading {
  translation: DialectTranslation;
  /** Unique to the round. */
  callId: string;
  model: string;
  /** Reads the usage of an answer of the dialect. */
  readUsage: (answer: JsonObject) => ObservedUsage | undefined;
  /** Nobody reads on after its abort. */
  signal: AbortSignal;
}

/** In the pieces in which they arrive. Throws for an answer that is none. */
export async function* readRound(
  { body }: Pick<PaidAnswer, "body">,
  { translation, callId, model, readUsage, signal }: RoundReading,
): AsyncGenerator<readonly AnswerEvent[]> {
  const context: UpstreamContext = { origin: nativeOrigin(translation.dialect), callId, model, readUsage };
  if (!(body instanceof ReadableStream)) {
    const answer = parseObject(typeof body === "string" ? body : Buffer.from(body).toString("utf8"));
    if (answer === undefined) throw new GatewayError("upstream_invalid_answer", "The answer of a round is no JSON.");
    yield [...eventsOfAnswer(translation.readAnswer(answer, context))];
    return;
  }
  yield* readStream(body, { reader: translation.streamReader(context), signal });
}

async function* readStream(
  body: ReadableStream<Uint8Array>,
  { reader, signal }: { reader: StreamReader; signal: AbortSignal },
): AsyncGenerator<readonly AnswerEvent[]> {
  const splitter = new EventSplitter(limits.wholeEventBytesMax);
  const source = body.getReader();
  const cancel = (): void => void source.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await source.read();
      isDone = done;
      if (done) break;
      const events = [...eventsOf(splitter.push(value))].flatMap((event) => {
        const data = dataOf(event);
        return data === undefined ? [] : reader.read(data);
      });
      if (events.length > 0) yield events;
    }
    const last = reader.close();
    if (last.length > 0) yield last;
  } finally {
    signal.removeEventListener("abort", cancel);
    // The reader of the events has left.
    if (!isDone) cancel();
  }
}
