/**
 * Streams of changes, which stay open until the client closes them, the server stops, or its configuration is replaced: `subscriptions/listen`
 * of 2026-07-28, and the `GET` of a session of 2025.
 */
import { type JsonObject, listOf, objectOf } from "../core/index.ts";
import { notificationText, resultText } from "./json-rpc.ts";
import { type McpCall, requireTasks } from "./methods.ts";
import type { FinishedAnswer } from "./outgoing.ts";
import { subscriptionKey } from "./revisions.ts";
import {
  type ListKind,
  type McpServer,
  RESOURCE_CHARACTERS_MAX,
  RESOURCES_MAX,
  type ServerChange,
  type WantedChanges,
} from "./server.ts";

/** The members of a filter that name lists. */
const filterOf: Readonly<Record<ListKind, string>> = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
};

const allLists: readonly ListKind[] = ["tools", "prompts", "resources"];

export type StreamCall = Pick<McpCall, "server" | "signal" | "outgoing">;

/** Acknowledges the changes that are sent: none of the gateway's own tools, which change with the configuration alone. */
export async function listen(call: McpCall, onStop: OnStop): Promise<FinishedAnswer> {
  const { id, era, params, outgoing, server } = call;
  const filter = objectOf(params["notifications"]) ?? {};
  if (listOf(filter["taskIds"]).length > 0) requireTasks(era);
  const meta = { [subscriptionKey]: id };
  const acknowledge = (notifications: JsonObject): void =>
    outgoing.notify(notificationText("notifications/subscriptions/acknowledged", { _meta: meta, notifications }));
  const early: ServerChange[] = [];
  let isOpen = false;
  const send = (change: ServerChange): void => {
    if (isOpen) outgoing.notify(changeText(change, { _meta: meta }));
    else early.push(change);
  };
  const wanted = wantedIn(filter);
  const watching = await server.watch?.(wanted, send);
  try {
    acknowledge(watching === undefined ? {} : honoured(wanted, watching.uris));
    isOpen = true;
    for (const change of early) send(change);
    await closedOr(call, onStop);
  } finally {
    watching?.stop();
  }
  return { text: resultText(id, JSON.stringify({ resultType: "complete", _meta: meta })) };
}

/** Calls back once, when a stream has to end. Returns a function that ends that. */
export type OnStop = (callback: () => void) => () => void;

/** Resolves when the stream has to end. */
function closedOr({ server, signal }: StreamCall, onStop: OnStop): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = [onStop(resolve), server.onRetire(resolve)];
  signal.addEventListener("abort", () => resolve());
  if (signal.aborted) resolve();
  return promise.finally(() => {
    for (const end of leave) end();
  });
}

function wantedIn(filter: JsonObject): WantedChanges {
  const asked = listOf(filter["resourceSubscriptions"]).filter((uri) => typeof uri === "string");
  let characters = 0;
  const uris = [...new Set(asked)].slice(0, RESOURCES_MAX).filter((uri) => {
    const isWithin = characters + uri.length <= RESOURCE_CHARACTERS_MAX;
    if (isWithin) characters += uri.length;
    return isWithin;
  });
  return { lists: allLists.filter((list) => filter[filterOf[list]] === true), uris };
}

function honoured({ lists }: WantedChanges, uris: readonly string[]): JsonObject {
  return {
    ...Object.fromEntries(lists.map((list) => [filterOf[list], true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  };
}

function changeText(change: ServerChange, meta: JsonObject): string {
  if ("list" in change) return notificationText(`notifications/${change.list}/list_changed`, meta);
  return notificationText("notifications/resources/updated", { uri: change.uri, ...meta });
}

/** All changes of lists, and the updates of the resources that the session has subscribed to, also from now on. */
export async function followSession(
  call: StreamCall & Pick<McpCall, "states"> & { session: string },
  onStop: OnStop,
): Promise<undefined> {
  const { server, outgoing, states, session, signal } = call;
  const watches = new SessionWatches(server, (change) => outgoing.notify(changeText(change, {})));
  const look = async (): Promise<void> => {
    const { resources } = await states.of(session);
    await watches.want(resources.filter(({ door }) => door === server.door).map(({ uri }) => uri));
  };
  // If the state cannot be read now, the next change of it is.
  const leave = states.watch(session, () => void look().catch(() => undefined));
  try {
    await Promise.race([look(), new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    await closedOr(call, onStop);
  } finally {
    leave();
    watches.end();
  }
  return undefined;
}

/** The watches of a session: one after the other, each begun before the one before it ends. */
class SessionWatches {
  readonly #server: Pick<McpServer, "watch">;
  readonly #onChange: (change: ServerChange) => void;
  #changing: Promise<void> = Promise.resolve();
  #uris: string | undefined;
  #stop: (() => void) | undefined;
  #isOver = false;

  constructor(server: Pick<McpServer, "watch">, onChange: (change: ServerChange) => void) {
    this.#server = server;
    this.#onChange = onChange;
  }

  want(uris: readonly string[]): Promise<void> {
    // One that has failed is made up for by the next.
    this.#changing = this.#changing.catch(() => undefined).then(() => this.#change(uris));
    return this.#changing;
  }

  end(): void {
    this.#isOver = true;
    this.#stop?.();
  }

  async #change(uris: readonly string[]): Promise<void> {
    const key = JSON.stringify(uris);
    if (key === this.#uris || this.#isOver) return;
    const next = await this.#server.watch?.({ lists: allLists, uris }, this.#onChange);
    this.#uris = key;
    this.#stop?.();
    this.#stop = next?.stop;
    // It may have ended meanwhile.
    if (this.#isOver) next?.stop();
  }
}
