/** The gateway's own conversation in answers of upstreams that do not know it, whose bytes pass otherwise. */
import { eventsWith, type StreamObserver } from "../../streaming/index.ts";

/** The events with a response. */
const WORDS = ["created", "queued", "in_progress", "completed", "incomplete", "failed"].map((name) =>
  Buffer.from(`"response.${name}"`),
);

const RESPONSE = /"response"\s*:\s*\{/;

/** A whole answer with its conversation. */
export function inConversation(text: string, id: string): string {
  return /"object"\s*:\s*"response"/.test(text) ? named(text, /^\s*\{/, id) : text;
}

/** Names the conversation in the events of a stream that have a response; all other bytes pass. */
export function streamInConversation(observer: StreamObserver, id: string): StreamObserver {
  const see = observer.see.bind(observer);
  observer.see = (block) => {
    const seen = see(block);
    const shown: Buffer[] = [];
    let from = 0;
    for (const event of eventsWith(seen, WORDS)) {
      const start = event.byteOffset - seen.byteOffset;
      shown.push(seen.subarray(from, start), Buffer.from(named(event.toString("utf8"), RESPONSE, id)));
      from = start + event.length;
    }
    return from === 0 ? seen : Buffer.concat([...shown, seen.subarray(from)]);
  };
  return observer;
}

/** The quotes of a key are not escaped, unlike those of the same text within a string. */
function named(text: string, object: RegExp, id: string): string {
  const without = text
    .replaceAll(/,\s*"conversation"\s*:\s*null(?=\s*[,}])/g, "")
    .replaceAll(/\{\s*"conversation"\s*:\s*null\s*,/g, "{");
  return without.replace(object, (start) => `${start}"conversation":${JSON.stringify({ id })},`);
}
