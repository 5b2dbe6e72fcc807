import type { Socket } from "node:net";
import type { OutboundFailure } from "../../outbound/index.ts";
import { isBrowserHost } from "./browser-hosts.ts";

/** Hosts whose outcome is remembered; a page can ask for any number. */
const VERDICTS_MAX = 1_000;

export interface Verdict {
  failure: OutboundFailure;
  /** For the caller; without the URL. */
  message: string;
}

export interface PassBounds {
  /** Connections at a time, and in all. */
  connectionsMax: number;
  connectionsInAllMax: number;
  /** Bytes in both directions. */
  bytesMax: number;
}

export interface PassOptions {
  /** The value of its `Proxy-Authorization`. */
  authorization: string;
  bounds: PassBounds;
  /** Hosts that are refused although they are public. */
  isUnwanted: (host: string) => boolean;
  onEnd: () => void;
}

/** The permissions of one scrape at the proxy, and its outcome. */
export class ProxyPass {
  readonly authorization: string;
  readonly #options: PassOptions;
  readonly #sockets = new Set<Socket>();
  readonly #verdicts = new Map<string, Verdict>();
  #bytes = 0;
  #connections = 0;
  #isOver = false;

  constructor(options: PassOptions) {
    this.authorization = options.authorization;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its bytes are used up. */
  get isExhausted(): boolean {
    return this.#bytes > this.#options.bounds.bytesMax;
  }

  /** Why the last request to a host failed, if the proxy was the reason. */
  verdictOn({ hostname, port, protocol }: URL): Verdict | undefined {
    const isSecure = protocol === "https:" || protocol === "wss:";
    return this.#verdicts.get(`${hostname}:${port === "" ? (isSecure ? "443" : "80") : port}`);
  }

  note(authority: string, verdict: Verdict): void {
    if (this.#verdicts.size < VERDICTS_MAX) this.#verdicts.set(authority, verdict);
  }

  /** Whether the host is none that the proxy refuses by its name. */
  isWanted(host: string): boolean {
    return !isBrowserHost(host) && !this.#options.isUnwanted(host);
  }

  /** Counts a connection of the browser until it is closed; false if there are too many. */
  admit(socket: Socket): boolean {
    const { connectionsMax, connectionsInAllMax } = this.#options.bounds;
    if (this.#isOver || this.isExhausted) return false;
    if (this.#connections >= connectionsInAllMax || this.#sockets.size >= connectionsMax) return false;
    this.#connections += 1;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return true;
  }

  /** False once they are used up, which ends all connections. */
  count(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.isExhausted) this.#drop();
    return !this.isExhausted;
  }

  /** Ends all connections; there will be no further ones. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#drop();
    this.#options.onEnd();
  }

  #drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
