/**
 * The changes of one server, as those see them who have one access to it: that its lists have changed, and that resources were updated.
 * While somebody listens, the server is asked for its changes (a stream), and its list of tools is read again as usual.
 */
import { type CallSignal, CallAborter, stringOf } from "../../core/index.ts";
import type { ListKind, ServerChange } from "../../mcp/index.ts";
import type { ListenRequest } from "../client/session.ts";
import type { ToolSource } from "../server-access.ts";
import type { ServerList } from "../server-list.ts";

/** Between two attempts to listen: longer each time, as long as they fail. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** Changes that come soon after each other are passed on together. */
const GATHER_MS = 200;
const GATHERED_MAX = 1_000;

const LOOK_MS = 60_000;

export interface ChangeListener {
  /** The addresses of the resources whose updates it gets. */
  uris: readonly string[];
  onChange: (change: ServerChange) => void;
}

interface ServerWatchOptions {
  source: Pick<ToolSource, "listen">;
  list: ServerList;
  wait: (milliseconds: number) => Promise<void>;
  /** Whether its list of tools is read from time to time, as callers would have it read. A program would never be idle. */
  looks: boolean;
  /** Called when nobody listens any more. */
  onIdle: () => void;
}

const listKinds: Readonly<Record<string, ListKind>> = {
  "notifications/tools/list_changed": "tools",
  "notifications/prompts/list_changed": "prompts",
  "notifications/resources/list_changed": "resources",
};

export class ServerWatch {
  readonly #options: ServerWatchOptions;
  readonly #listeners = new Set<ChangeListener>();
  readonly #lists = new Set<ListKind>();
  readonly #uris = new Set<string>();
  readonly #stopList: () => void;
  #isGathering = false;
  #stream: CallAborter | undefined;
  #isOver = false;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    this.#stopList = options.list.onChange(() => this.#note({ list: "tools" }));
    if (options.looks) void this.#look();
  }

  /** Returns a function that ends the listening. */
  add(listener: ChangeListener): () => void {
    const before = this.#wanted;
    this.#listeners.add(listener);
    this.#listen(before);
    return () => {
      const wanted = this.#wanted;
      if (!this.#listeners.delete(listener)) return;
      if (this.#listeners.size > 0) return this.#listen(wanted);
      this.#isOver = true;
      this.#stopList();
      this.#stream?.abort("nobody listens");
      this.#options.onIdle();
    };
  }

  get #wanted(): string {
    return JSON.stringify(this.#wantedUris);
  }

  get #wantedUris(): string[] {
    return [...new Set([...this.#listeners].flatMap(({ uris }) => uris))].toSorted();
  }

  /** Listens again if other resources are wanted than before. */
  #listen(before: string): void {
    if (this.#stream !== undefined && before === this.#wanted) return;
    this.#stream?.abort("other resources are wanted");
    this.#stream = new CallAborter();
    void this.#follow(this.#stream, this.#wantedUris);
  }

  async #follow(signal: CallSignal, uris: readonly string[]): Promise<void> {
    const { source, wait } = this.#options;
    for (let pauseMs = PAUSE_MS_MIN; !signal.aborted && source.listen !== undefined;) {
      let isOpen = false;
      const request: ListenRequest = {
        uris,
        signal,
        onOpen: () => {
          // The lists may have changed meanwhile.
          if (pauseMs > PAUSE_MS_MIN) for (const list of ["prompts", "resources"] as const) this.#note({ list });
          isOpen = true;
        },
        onNotification: (method, params) => {
          const list = listKinds[method];
          if (list === "tools") this.#options.list.refresh();
          else if (list !== undefined) this.#note({ list });
          else if (method === "notifications/resources/updated") this.#note({ uri: stringOf(params["uri"]) });
        },
      };
      // A server that has no such stream is asked again from time to time: it may be a newer one by then.
      await source.listen(request).catch(() => undefined);
      pauseMs = isOpen ? PAUSE_MS_MIN : Math.min(2 * pauseMs, PAUSE_MS_MAX);
      if (!signal.aborted) await wait(pauseMs);
    }
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      await this.#options.list.tools();
      await this.#options.wait(LOOK_MS);
    }
  }

  #note(change: ServerChange): void {
    if ("list" in change) this.#lists.add(change.list);
    else if (this.#uris.size < GATHERED_MAX) this.#uris.add(change.uri);
    if (this.#isGathering) return;
    this.#isGathering = true;
    void this.#options.wait(GATHER_MS).then(() => this.#pass());
  }

  #pass(): void {
    this.#isGathering = false;
    const [lists, changed] = [[...this.#lists], [...this.#uris]];
    this.#lists.clear();
    this.#uris.clear();
    for (const { uris, onChange } of this.#listeners) {
      for (const list of lists) onChange({ list });
      for (const uri of changed) if (uris.some((wanted) => isPartOf(uri, wanted))) onChange({ uri });
    }
  }
}

/** A server may name a part of the resource. */
function isPartOf(uri: string, wanted: string): boolean {
  return uri === wanted || uri.startsWith(wanted.endsWith("/") ? wanted : `${wanted}/`) || uri.startsWith(`${wanted}#`);
}
