import type { PaidAnswer } from "../../charges/index.ts";
import { EVENT_STREAM } from "../../streaming/index.ts";

/** The data of an event of this dialect, which is one line. */
const DATA = "data: ";

/** A stream of events as a JSON list of their data, which grows as they come; any other answer as it is. */
export function asList(answer: PaidAnswer): PaidAnswer {
  const { status, headers, body } = answer;
  if (headers["content-type"]?.startsWith(EVENT_STREAM) !== true) return answer;
  const listed = { ...headers, "content-type": "application/json" };
  if (!(body instanceof ReadableStream)) {
    const list = new GrowingList();
    const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
    return { status, headers: listed, body: list.add(text) + list.end() };
  }
  const list = new GrowingList();
  const decoder = new TextDecoder();
  const growing = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(block, controller) {
        const text = list.add(decoder.decode(block, { stream: true }));
        if (text !== "") controller.enqueue(Buffer.from(text));
      },
      flush(controller) {
        controller.enqueue(Buffer.from(list.end()));
      },
    }),
  );
  return { status, headers: listed, body: growing };
}

/** The text of a list from events, which may be cut anywhere. */
class GrowingList {
  #rest = "";
  #isEmpty = true;

  add(text: string): string {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.map((line) => this.#item(line)).join("");
  }

  end(): string {
    return `${this.add("\n")}${this.#isEmpty ? "[" : ""}]`;
  }

  #item(line: string): string {
    if (!line.startsWith(DATA)) return "";
    const data = line.slice(DATA.length).trimEnd();
    const item = this.#isEmpty ? `[${data}` : `,\n${data}`;
    this.#isEmpty = false;
    return item;
  }
}
