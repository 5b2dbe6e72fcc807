import { parseObject } from "../../core/index.ts";
import { eventsWith, type StreamObserver } from "../../streaming/index.ts";

/**
 * Claude Code drops the thoughts of every answer whose model has not the name that it asked for, and Anthropic then refuses
 * the rest of the tool loop. Its answers have the model's name as the client wrote it, prefix included.
 */
export function comparesModels(headers: Headers): boolean {
  return headers.get("user-agent")?.startsWith("claude-cli/") === true;
}

/** A whole answer under that name. */
export function underModel(text: string, model: string): string {
  const answer = parseObject(text);
  return answer?.["type"] === "message" ? JSON.stringify({ ...answer, model }) : text;
}

const START = Buffer.from('"message_start"');
const MODEL = /("model"\s*:\s*)"(?:[^"\\]|\\.)*"/;

/** Changes the name in the first event of a stream; all other bytes pass. */
export function streamUnderModel(observer: StreamObserver, model: string): StreamObserver {
  const see = observer.see.bind(observer);
  let isNamed = false;
  observer.see = (block) => {
    const seen = see(block);
    if (isNamed) return seen;
    for (const event of eventsWith(seen, [START])) {
      isNamed = true;
      const start = event.byteOffset - seen.byteOffset;
      const named = event.toString("utf8").replace(MODEL, (_, key: string) => key + JSON.stringify(model));
      return Buffer.concat([seen.subarray(0, start), Buffer.from(named), seen.subarray(start + event.length)]);
    }
    return seen;
  };
  return observer;
}
