import { objectOf, parseObject, type SocketSink, type UpstreamSocket } from "../../../src/core/index.ts";
import type { Node } from "../kit/node.ts";
import type { World } from "../kit/world.ts";

const BYTES_PER_TOKEN = 4;
const READ_AT_ONCE = 50;

/** How often the beginning of a response is not announced. */
const UNANNOUNCED = 0.05;

/** The code of the error for a response that is asked for while another one runs. */
export const ACTIVE_RESPONSE = "conversation_already_has_active_response";

export interface SessionUpstreamOptions {
  world: World;
  node: Node;
  /** The session's id. */
  id: string;
  /** A message arrives at the gateway. */
  onDelivered: (message: string) => void;
  /** The gateway has passed a message on. */
  onReceived: (type: string) => void;
  onPause: () => void;
  onResume: () => void;
}

/** An upstream of realtime sessions: it begins responses when asked, or by itself, and sends them in parts. */
export class SessionUpstream implements UpstreamSocket {
  readonly queuedBytes = 0;
  readonly #options: SessionUpstreamOptions;
  #sink: SocketSink | undefined;
  readonly #waiting: string[] = [];
  #isPaused = false;
  #late = 0;
  #isClosed = false;
  #responses = 0;
  /** Responses that it was asked for, less those that it has refused. */
  owed = 0;
  /** Of those that it was asked for, how many are neither begun nor refused. */
  #asked = 0;
  /** Whether it has closed the socket itself. */
  hasLeft = false;
  /** The response that runs. */
  #active: { id: string; tokens: number } | undefined;

  constructor(options: SessionUpstreamOptions) {
    this.#options = options;
  }

  flowTo(sink: SocketSink): void {
    this.#sink = sink;
    this.#emit({ type: "session.created", session: {} });
  }

  send(message: string | Uint8Array): void {
    const event = parseObject(String(message)) ?? {};
    const { type } = event;
    this.#options.onReceived(String(type));
    if (type === "response.create") this.#ask(event["event_id"]);
    if (type === "response.cancel") this.#options.node.after(this.#soon(), () => this.#done("cancelled"));
  }

  #ask(eventId: unknown): void {
    const { meetings } = this.#options.world;
    this.owed += 1;
    this.#asked += 1;
    if (this.#asked === 1) meetings.begin(this.#options.id, "asked");
    const { random } = this.#options.world;
    this.#options.node.after(random.int(0, random.pick([60, 60, 60, 6_000])), () => {
      this.#asked -= 1;
      if (this.#asked === 0) meetings.end(this.#options.id, "asked");
      if (this.#active !== undefined && !this.#isClosed) this.owed -= 1;
      this.begin(eventId);
    });
  }

  /** Begins a response by itself, unless it was asked for one or one runs: it refuses nothing then. */
  beginByItself(): void {
    if (this.#asked === 0 && this.#active === undefined) this.begin(undefined);
  }

  /** Begins a response, or refuses to if one runs. */
  begin(eventId: unknown): void {
    if (this.#isClosed) return;
    if (this.#active !== undefined) {
      const error = { code: ACTIVE_RESPONSE, event_id: eventId ?? null };
      return this.#emit({ type: "error", error });
    }
    const { random, node } = { random: this.#options.world.random, node: this.#options.node };
    const id = `r${this.#responses}`;
    this.#responses += 1;
    this.#active = { id, tokens: 0 };
    if (!random.chance(UNANNOUNCED)) this.#emit({ type: "response.created", response: { id } });
    const parts = random.int(1, 40);
    const gap = random.pick([5, 50, 300]);
    let at = 0;
    for (let part = 0; part < parts; part += 1) {
      at += random.int(0, gap);
      node.after(at, () => this.#delta(id));
    }
    node.after(at + random.int(0, gap), () => this.#active?.id === id && this.#done("completed"));
  }

  #soon(): number {
    return this.#options.world.random.int(0, 60);
  }

  #delta(id: string): void {
    const active = this.#active;
    if (active?.id !== id) return;
    const tokens = this.#options.world.random.int(20, 100);
    active.tokens += tokens;
    this.#emit({ type: "response.output_text.delta", response_id: id, delta: "x".repeat(tokens * BYTES_PER_TOKEN) });
  }

  #done(status: string): void {
    const active = this.#active;
    if (active === undefined) return;
    this.#active = undefined;
    const { id, tokens } = active;
    const usage = {
      input_tokens: 1_000,
      output_tokens: tokens,
      input_token_details: { text_tokens: 1_000 },
      output_token_details: { text_tokens: tokens },
    };
    this.#emit({ type: "response.done", response: { id, status, usage } });
    this.#follow();
  }

  /** After a response: sometimes a crowd of small events. */
  #follow(): void {
    const { world, node } = this.#options;
    if (!world.random.chance(0.04)) return;
    for (let index = 0; index < 2_000; index += 1)
      node.after(Math.floor(index / 20), () => this.#emit({ type: "rate_limits.updated" }));
  }

  #emit(event: object): void {
    if (this.#isClosed) return;
    const message = JSON.stringify(event);
    if (this.#isPaused && this.#late > 0 && this.#waiting.length === 0) {
      this.#late -= 1;
      this.#deliver(message);
    } else {
      this.#waiting.push(message);
      this.#flush();
    }
  }

  /** As many as a socket reads at once, then the next ones. */
  #flush(): void {
    for (let count = 0; count < READ_AT_ONCE; count += 1) {
      if (this.#isPaused || this.#sink === undefined) return;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#deliver(next);
    }
    this.#options.node.after(1, () => this.#flush());
  }

  #deliver(message: string): void {
    this.#options.onDelivered(message);
    this.#sink?.onMessage(message);
  }

  ping(): void {
    this.#options.node.after(this.#soon(), () => this.#sink?.onPong());
  }

  pause(): void {
    this.#isPaused = true;
    this.#late = 2;
    this.#options.onPause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#options.onResume();
    this.#flush();
  }

  close(code: number): void {
    this.#end(code);
  }

  terminate(): void {
    this.#end(1006);
  }

  /** The upstream closes the socket, or its connection breaks off. */
  end(code: number): void {
    this.hasLeft ||= !this.#isClosed;
    this.#end(code);
  }

  #end(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { node } = this.#options;
    node.after(1, () => this.#sink?.onClose(code, ""));
  }
}

/** The type of an event, and the response that it belongs to. */
export function readEvent(message: string): { type: string; response: string | undefined; tokens: number } {
  const event = parseObject(message) ?? {};
  const { type, delta } = event;
  const response = event["response_id"] ?? objectOf(event["response"])?.["id"];
  return {
    type: String(type),
    response: typeof response === "string" ? response : undefined,
    tokens: typeof delta === "string" ? delta.length / BYTES_PER_TOKEN : 0,
  };
}
