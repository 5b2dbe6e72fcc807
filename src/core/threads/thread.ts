import { Worker } from "node:worker_threads";

interface ThreadOptions<Reply> {
  /** The module that the thread runs. */
  program: URL;
  /** Its `workerData`. */
  data: unknown;
  onReply: (reply: Reply) => void;
  /** Called when it has ended, with the reason: what it was asked for gets no reply any more. */
  onExit: (reason: unknown) => void;
}

/** A thread that starts with the first message, and again with the next one after it has failed. */
export class Thread<Message, Reply> {
  readonly #options: ThreadOptions<Reply>;
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(options: ThreadOptions<Reply>) {
    this.#options = options;
  }

  get isStarted(): boolean {
    return this.#worker !== undefined;
  }

  /** Sends a message, for whose reply the process stays until `rest`. Throws for what cannot be cloned. */
  send(message: Message): void {
    const worker = (this.#worker ??= this.#start());
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(message);
    worker.ref();
  }

  /** Lets the process end: no reply is waited for. */
  rest(): void {
    this.#worker?.unref();
  }

  /** Sends its last message to a thread that has started. Resolves once there is none. */
  end(message: Message): Promise<void> {
    if (this.isStarted) this.send(message);
    return this.#exited;
  }

  #start(): Worker {
    const { program, data, onReply, onExit } = this.#options;
    const worker = new Worker(program, { workerData: data });
    const { promise, resolve } = Promise.withResolvers<void>();
    let failure: unknown = new Error("the thread has ended");
    this.#exited = promise;
    worker.on("message", onReply);
    worker.on("error", (reason) => {
      failure = reason;
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      onExit(failure);
      resolve();
    });
    return worker;
  }
}
