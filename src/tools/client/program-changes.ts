/**
 * The changes of a program, over all of its processes. Who listens does not start it, unless resources are wanted, and does not keep it
 * running: each process is asked for the changes again once it is there.
 */
import type { CallSignal, JsonObject } from "../../core/index.ts";
import { STARTED_NOTIFICATION } from "../processes/plan.ts";
import { isEventStream, readMessages } from "./read-messages.ts";
import { invalidAnswer } from "./server-answer.ts";
import { CONNECT_MS_MAX, NOTIFICATION_BYTES_MAX, type ServerWire } from "./server-wire.ts";
import { type ListenRequest, type ServerSession, type Session, sessionless } from "./session.ts";

interface ProgramOptions {
  /** For messages: the name of the server. */
  name: string;
  wire: ServerWire;
  /** That of the process that runs, which is started if none does. */
  session: () => Promise<Session>;
  forget: () => void;
}

/** Resolves when the stream has ended; rejects if there is none. */
export async function listenToProgram(
  { uris, signal, onOpen, onNotification }: ListenRequest,
  { name, wire, session, forget }: ProgramOptions,
): Promise<void> {
  const reply = await wire.open(sessionless, signal);
  if (!isEventStream(reply)) {
    reply.body.cancel();
    throw invalidAnswer(name, "has no stream of changes");
  }
  onOpen();
  const ask = async (): Promise<boolean> => {
    for (let tries = 0; tries < 2; tries += 1) {
      const current = await session();
      if (await isAsked(wire, current, { uris, signal })) return true;
      forget();
    }
    return false;
  };
  const askProcess = processAsker(ask);
  if (uris.length > 0) askProcess();
  await readMessages(reply, {
    id: undefined,
    bytesMax: Number.POSITIVE_INFINITY,
    messageBytesMax: NOTIFICATION_BYTES_MAX,
    onNotification: (method, params) => {
      if (method === STARTED_NOTIFICATION) askProcess();
      else onNotification(method, params);
    },
  });
}

/**
 * Asks the process that runs for its changes. That a process has started is also heard while it is asked: only if that fails, it may be
 * another one, which is asked again. Without an answer there are no changes, until the next process.
 */
function processAsker(ask: () => Promise<boolean>): () => void {
  let isAsking = false;
  let isDue = false;
  const askAll = async (): Promise<void> => {
    do isDue = false;
    while (!(await ask().catch(() => false)) && isDue);
    isAsking = false;
  };
  return () => {
    isDue = true;
    if (isAsking) return;
    isAsking = true;
    void askAll();
  };
}

/** False if the session is that of an earlier process. */
async function isAsked(
  wire: ServerWire,
  session: Session,
  { uris, signal }: Pick<ListenRequest, "uris" | "signal">,
): Promise<boolean> {
  if (!session.isStateless) return isSubscribed(wire, session, { uris, signal });
  const reply = await wire.listen(filterWith(uris), signal);
  // The changes come with those of all who listen.
  if (isEventStream(reply))
    void discard(
      readMessages(reply, {
        id: undefined,
        bytesMax: Number.POSITIVE_INFINITY,
        messageBytesMax: NOTIFICATION_BYTES_MAX,
      }),
    );
  else reply.body.cancel();
  return true;
}

async function isSubscribed(
  wire: ServerWire,
  session: ServerSession,
  { uris, signal }: { uris: readonly string[]; signal: CallSignal },
): Promise<boolean> {
  for (const uri of uris) {
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: NOTIFICATION_BYTES_MAX, signal };
    const { status } = await wire.send({ ...bounds, method: "resources/subscribe", params: { uri } }, session);
    if (status === 404) return false;
  }
  return true;
}

async function discard(reading: Promise<unknown>): Promise<void> {
  await reading.catch(() => undefined);
}

/** All changes of lists, and the updates of these resources. */
export function filterWith(uris: readonly string[]): JsonObject {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  return { ...lists, ...(uris.length > 0 && { resourceSubscriptions: uris }) };
}
