/** Those who listen for the changes of a program. They neither start it nor keep it running, and hear of all of its processes. */
import type { JsonObject } from "../../core/index.ts";
import { MessageStream } from "./message-stream.ts";
import { STARTED_NOTIFICATION } from "./plan.ts";

const started: JsonObject = { jsonrpc: "2.0", method: STARTED_NOTIFICATION };

export class ProgramListeners {
  readonly #streams = new Set<MessageStream>();

  /** `isStarted`: whether a process takes requests already. */
  add({ signal }: Request, isStarted: boolean): Promise<Response> {
    const end = (): void => void this.#streams.delete(stream);
    const stream = new MessageStream(end);
    this.#streams.add(stream);
    signal.addEventListener("abort", end);
    stream.open();
    if (isStarted) stream.push(started);
    return stream.response;
  }

  /** A notification of the program, which must not speak for the bridge. */
  pass(message: JsonObject): void {
    if (message["method"] !== STARTED_NOTIFICATION) this.#push(message);
  }

  /** A new process takes requests: each listener asks it for its changes. */
  announce(): void {
    this.#push(started);
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #push(message: JsonObject): void {
    for (const stream of this.#streams) stream.push(message);
  }
}
