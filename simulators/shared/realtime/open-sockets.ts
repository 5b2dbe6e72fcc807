import type { RawData, WebSocket } from "ws";

/** OpenAI's server answers `realtime` and never the protocol with the secret; xAI's answers the only one that it is offered. */
export function subprotocolOf(offered: readonly string[]): string | undefined {
  return offered.find((protocol) => protocol === "realtime" || protocol.startsWith("xai-client-secret."));
}

/** One WebSocket that a simulated provider has accepted. */
export interface RecordedSocket {
  readonly provider: string;
  /** Path with its query string. */
  readonly path: string;
  /** The text messages of the client, the last thousand of them. */
  readonly messages: readonly string[];
  readonly isOpen: boolean;
  /** Undefined while it is open. */
  readonly closeCode: number | undefined;
}

const messagesMax = 1_000;
const messageCharactersMax = 10_000;
const socketsMax = 2_000;

interface Kept {
  readonly name: string;
  readonly provider: string;
  readonly path: string;
  readonly messages: string[];
  closeCode: number | undefined;
}

/** Remembers the last WebSockets and their messages. */
export class OpenSockets {
  readonly #kept: Kept[] = [];
  readonly #open = new Set<WebSocket>();
  #total = 0;

  add(provider: string, url: URL, socket: WebSocket): { readonly name: string } {
    this.#total += 1;
    const kept: Kept = {
      name: `sim${this.#total}`,
      provider,
      path: url.pathname + url.search,
      messages: [],
      closeCode: undefined,
    };
    this.#kept.push(kept);
    if (this.#kept.length > socketsMax) this.#kept.shift();
    this.#open.add(socket);
    socket.on("message", (data) => {
      kept.messages.push(textOf(data).slice(0, messageCharactersMax));
      if (kept.messages.length > messagesMax) kept.messages.shift();
    });
    socket.on("close", (code) => {
      kept.closeCode = code;
      this.#open.delete(socket);
    });
    return kept;
  }

  get all(): readonly RecordedSocket[] {
    return this.#kept.map(({ provider, path, messages, closeCode }) => ({
      provider,
      path,
      messages: [...messages],
      isOpen: closeCode === undefined,
      closeCode,
    }));
  }

  clear(): void {
    this.#kept.length = 0;
  }

  /** Ends all of them without a farewell. */
  cut(): void {
    for (const socket of this.#open) socket.terminate();
  }
}

/** A message as text. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.from(data as Uint8Array).toString("utf8");
}
