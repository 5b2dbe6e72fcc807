/** Notes in the storage that this node is there, and performs the requests that it finds there. */
import { type Clock, type Every, everyUnref, type JsonObject } from "../core/index.ts";
import type { Node, NodeAnswer, NodeAsk, NodeStore } from "./store.ts";

/** How often a node notes that it is there. */
const BEAT_MS = 5_000;

/** How long the row of a node that died is kept. */
const KEPT_MS = 7 * 86_400_000;

/** How long the storage may take to note that the node has left. */
const LEAVE_MS_MAX = 1_000;

/** Outcomes that are kept for those who asked: each looks several times a second. */
const EARLIER_MAX = 8;

interface NodePresenceOptions {
  store: NodeStore;
  clock: Clock;
  node: Pick<Node, "host" | "pid" | "version" | "port">;
  /** As of now. */
  fingerprint: () => Node["fingerprint"];
  /** Performs a request; never rejects. */
  perform: (asked: NodeAsk) => Promise<JsonObject>;
  every?: Every;
}

export class NodePresence {
  readonly #options: NodePresenceOptions;
  readonly #startedAt: number;
  readonly #stop: () => void;
  #isBeating: Promise<boolean> | undefined;

  /** Starts at once. */
  constructor(options: NodePresenceOptions) {
    this.#options = options;
    this.#startedAt = options.clock();
    this.#stop = (options.every ?? everyUnref)(BEAT_MS, () => void this.beat());
    void this.#announce().catch(() => undefined);
  }

  get #name(): string {
    const { host, pid } = this.#options.node;
    return `${host}:${pid}`;
  }

  /**
   * Notes that the node is there. Resolves with whether it was asked for something, once that is done. Never rejects: a storage that
   * does not answer is noticed by those who need it.
   */
  beat(): Promise<boolean> {
    this.#isBeating ??= this.#beat()
      .catch(() => false)
      .finally(() => (this.#isBeating = undefined));
    return this.#isBeating;
  }

  /** Resolves within a second, also if the storage does not answer. */
  async leave(): Promise<void> {
    this.#stop();
    const { store } = this.#options;
    const left = Promise.resolve().then(() => store.leave(this.#name));
    await Promise.race([left.catch(() => undefined), Bun.sleep(LEAVE_MS_MAX)]);
  }

  async #beat(): Promise<boolean> {
    const { store, clock, fingerprint, perform } = this.#options;
    for (let wasAsked = false; ; wasAsked = true) {
      const row = await store.beat(this.#name, clock(), fingerprint());
      if (row === undefined) await this.#announce();
      if (row?.asked === undefined) return wasAsked;
      const result = await perform(row.asked);
      const earlier = row.outcome === undefined ? [] : [answerOf(row.outcome), ...row.outcome.earlier];
      await store.answer(this.#name, { id: row.asked.id, result, earlier: earlier.slice(0, EARLIER_MAX) });
    }
  }

  async #announce(): Promise<void> {
    const { store, clock, node, fingerprint } = this.#options;
    const at = clock();
    await store.announce({
      ...node,
      name: this.#name,
      startedAt: this.#startedAt,
      seenAt: at,
      fingerprint: fingerprint(),
      fingerprintAt: at,
      asked: undefined,
      outcome: undefined,
    });
    await store.deleteBefore(at - KEPT_MS);
  }
}

const answerOf = ({ id, result }: NodeAnswer): NodeAnswer => ({ id, result });
