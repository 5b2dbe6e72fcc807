import { setTimeout as wait } from "node:timers/promises";
import { GatewayError } from "../../../core/index.ts";
import type { CallFollower, Generation, GenerationStore } from "../../../generations/index.ts";
import { EVENT_HEADERS } from "../../../streaming/index.ts";
import { OpenStreams } from "../exports/open-streams.ts";

/** How often the storage is asked for new calls. */
const POLL_MS = 500;

/** Calls of one poll: a hundred a second. */
const POLL_CALLS_MAX = 50;

/** A comment after so many polls without calls: clients and proxies give up connections that are silent for long. */
const QUIET_POLLS_MAX = 30;

/** Each asks the storage. */
const tails = new OpenStreams("of calls", { max: 32, ofUserMax: 2 });

interface Tail {
  follower: CallFollower;
  /** The objects that are sent. */
  show: (calls: readonly Generation[]) => Promise<object[]>;
  /** The id of the caller's user. */
  user: string;
  /** Whether the caller still has the rights with which the stream began. Rejects if their token is no longer taken. */
  isAllowed: () => Promise<boolean>;
  signal: AbortSignal;
  isDraining: () => boolean;
}

/**
 * Calls as server-sent events while they end, until the client leaves, loses the right to see them, or the server stops. Throws 429 if
 * there are too many such streams.
 */
export async function tailCalls(generations: GenerationStore, tail: Tail): Promise<Response> {
  const events = eventsOf(tail, tails.open(generations, tail.user));
  // Calls that end from here on are sent.
  await events.next();
  const body = new ReadableStream<string>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await events.return(undefined)),
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers: EVENT_HEADERS });
}

async function* eventsOf(
  { follower, show, isAllowed, signal, isDraining }: Tail,
  end: () => void,
): AsyncGenerator<string, undefined> {
  try {
    await follower.next(1);
    yield "";
    yield ": calls from now on\n\n";
    for (let quiet = 0; !signal.aborted && !isDraining();) {
      await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || !(await isAllowed().catch(isUnavailable))) return undefined;
      const { calls, left } = await follower.next(POLL_CALLS_MAX);
      quiet = calls.length > 0 ? 0 : quiet + 1;
      const texts = (await show(calls)).map((call) => eventOf("generation", call));
      if (left > 0) texts.push(eventOf("left_out", { object: "left_out", calls: left }));
      if (texts.length > 0) yield texts.join("");
      else if (quiet % QUIET_POLLS_MAX === 0) yield ":\n\n";
    }
    return undefined;
  } finally {
    end();
  }
}

/** While the storage can't be asked, nothing is sent either. */
function isUnavailable(reason: unknown): boolean {
  return reason instanceof GatewayError && reason.code === "storage_unavailable";
}

const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
