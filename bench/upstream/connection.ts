import { MessageReader } from "../http1/message-reader.ts";
import type { MessageSink } from "../http1/message-reader.ts";
import { SendQueue } from "../http1/send-queue.ts";
import {
  busyAnswer,
  chatAnswer,
  modelsAnswer,
  notFoundAnswer,
  streamsOf,
  transcriptionAnswer,
  wrongUploadAnswer,
} from "./answers.ts";
import {
  busyPath,
  type ExpectedFile,
  flappingPath,
  type UpstreamDialect,
  type UpstreamStatistics,
} from "./protocol.ts";
import type { StreamTarget, Streams } from "./streams.ts";
import { UploadCheck } from "./upload-check.ts";

/** State shared by all connections. */
export interface UpstreamShared {
  statistics: UpstreamStatistics;
  streams: Streams;
  expectedFile: ExpectedFile;
}

type Route = UpstreamDialect | "transcription" | "models" | "busy" | "unknown";

const flapMs = 1_000;

const streamFlag = /"stream"\s*:\s*true/;
/** The flag stands in the first or the last bytes of a body; scanning all of 1 MB would cost more than the answer. */
const flagWindowBytes = 4096;

/** One connection of the upstream: reads a request to its end, answers it, reads the next. */
export class UpstreamConnection implements MessageSink, StreamTarget {
  closed = false;
  readonly #socket: Bun.Socket<UpstreamConnection>;
  readonly #shared: UpstreamShared;
  readonly #reader = new MessageReader("request", this);
  readonly #queue = new SendQueue();
  #route: Route = "unknown";
  #bodyStart = "";
  #bodyEnd = "";
  #upload: UploadCheck | null = null;

  constructor(socket: Bun.Socket<UpstreamConnection>, shared: UpstreamShared) {
    this.#socket = socket;
    this.#shared = shared;
  }

  receive(bytes: Buffer): void {
    this.#reader.push(bytes);
  }

  drain(): void {
    this.#queue.drain(this.#socket);
  }

  send(bytes: Uint8Array): void {
    this.#queue.send(this.#socket, bytes);
  }

  onHead(head: string): void {
    this.#route = routeOf(head);
    this.#bodyStart = "";
    this.#bodyEnd = "";
    this.#upload = this.#route === "transcription" ? new UploadCheck(this.#shared.expectedFile) : null;
    if (/\r\nexpect:[ \t]*100-continue/i.test(head)) this.send(Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"));
  }

  onBody(piece: Buffer): void {
    this.#shared.statistics.bodyBytes += piece.length;
    if (this.#upload === null) this.#look(piece);
    else this.#upload.add(piece);
  }

  #look(piece: Buffer): void {
    const missing = flagWindowBytes - this.#bodyStart.length;
    if (missing > 0) this.#bodyStart += piece.toString("latin1", 0, Math.min(piece.length, missing));
    const end = piece.toString("latin1", Math.max(0, piece.length - flagWindowBytes));
    this.#bodyEnd = (this.#bodyEnd + end).slice(-flagWindowBytes);
  }

  onEnd(): void {
    const route = this.#route;
    if (route === "models" || route === "unknown") {
      this.send(route === "models" ? modelsAnswer : notFoundAnswer);
      return;
    }
    if (route === "busy") return this.send(busyAnswer);
    this.#shared.statistics.requests += 1;
    if (route === "transcription") this.#answerUpload();
    else this.#answerText(route);
  }

  #answerUpload(): void {
    const problem = this.#upload?.problem() ?? null;
    this.send(problem === null ? transcriptionAnswer : wrongUploadAnswer(problem));
  }

  #answerText(route: UpstreamDialect): void {
    // A stream of Gemini's is asked for by its path.
    const streamed = route === "gemini" || streamFlag.test(this.#bodyStart) || streamFlag.test(this.#bodyEnd);
    if (streamed) this.#shared.streams.start(this, streamsOf[route]);
    else this.send(route === "chat" ? chatAnswer : notFoundAnswer);
  }
}

function routeOf(head: string): Route {
  if (head.startsWith(`POST /${busyPath}/`)) return "busy";
  if (head.startsWith(`POST /${flappingPath}/`) && Math.floor(Date.now() / flapMs) % 2 === 0) return "busy";
  if (head.startsWith("POST ") && head.includes("/chat/completions ")) return "chat";
  if (head.startsWith("POST ") && head.includes("/v1/messages ")) return "messages";
  if (head.startsWith("POST ") && head.includes(":streamGenerateContent")) return "gemini";
  if (head.startsWith("POST ") && head.includes("/audio/transcriptions ")) return "transcription";
  if (head.startsWith("GET ") && head.includes("/models")) return "models";
  return "unknown";
}
