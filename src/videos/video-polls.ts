/** The questions about video jobs that this process asks at the same time, in the background and for callers. */
import { GatewayError, Places } from "../core/index.ts";

/** Questions at a time. */
const PLACES = 64;

/** Questions in a row that a provider does not answer in time, after which it is asked about one job of each user at a time. */
const TIMEOUTS_MAX = 3;

export class VideoPolls {
  readonly places: Places;
  /** Time-outs since the last answer, by the provider's prefix. */
  readonly #timeouts = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor() {
    const isHanging = (provider: string): boolean => (this.#timeouts.get(provider) ?? 0) >= TIMEOUTS_MAX;
    this.places = new Places({ what: "look-ups of video jobs", places: PLACES, isHanging });
  }

  /** Runs one question, and notes whether its provider answers. Rejects as it does. */
  async note<Answer>(provider: string, question: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await question;
      this.#timeouts.delete(provider);
      return answer;
    } catch (reason) {
      if (reason instanceof GatewayError && reason.code === "upstream_timeout") {
        this.#timeouts.set(provider, (this.#timeouts.get(provider) ?? 0) + 1);
      }
      throw reason;
    }
  }

  /** Runs work that goes on when its caller waits no longer; its signal is aborted when the process stops. It must not reject. */
  begin(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const running = work(this.#stop.signal).finally(() => void this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Resolves once what `begin` has begun has ended. */
  async stop(): Promise<void> {
    const reason = new Error("the server stops");
    this.#stop.abort(reason);
    this.places.close(reason);
    await Promise.all(this.#running);
  }
}
