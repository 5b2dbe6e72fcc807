/** Requests to the host of the servers that are programs. */
import type { AskUpstream, ReplyBody, UpstreamReply, UpstreamRequest } from "../../core/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import { type HostAddress, SECRET_HEADER, USER_HEADER, WAITING_HEADER } from "./plan.ts";

/** The host takes this long to start, at most. */
const START_MS_MAX = 5_000;
const RETRY_MS = 50;

/** The URL of a server there. */
export function hostedUrl(name: string): string {
  return `http://tools.invalid/${name}`;
}

/** Asks on behalf of one user. */
export function askHost({ socket, secret }: HostAddress, user: string): AskUpstream {
  const ask = askByFetch((input, init) => fetch(input, { ...init, unix: socket }));
  return async (request) => {
    const headers = new Headers([...request.headers, [USER_HEADER, user], [SECRET_HEADER, secret]]);
    const until = performance.now() + START_MS_MAX;
    for (;;) {
      if (isAborted(request)) throw request.signal.reason;
      try {
        return noteWait(await ask({ ...request, headers }), request);
      } catch (thrown) {
        if (!isNotThere(thrown)) throw thrown;
        request.onSent?.(false);
        if (performance.now() > until) throw thrown;
        await Bun.sleep(RETRY_MS);
      }
    }
  };
}

/** A call that waits for its turn at the program is not sent so far: it is with the first bytes of the answer. */
function noteWait(reply: UpstreamReply, { onSent }: UpstreamRequest): UpstreamReply {
  if (onSent === undefined || reply.headers.get(WAITING_HEADER) === null) return reply;
  onSent(false);
  return { ...reply, body: notedBody(reply.body, () => onSent(true)) };
}

/** `onFirst` is called with the first bytes of the body. */
function notedBody(body: ReplyBody, onFirst: () => void): ReplyBody {
  let isFirst = true;
  return {
    flowTo: (sink) =>
      body.flowTo({
        onBytes: (bytes) => {
          if (isFirst) onFirst();
          isFirst = false;
          sink.onBytes(bytes);
        },
        onEnd: () => sink.onEnd(),
        onFailure: (cause) => sink.onFailure(cause),
      }),
    pause: () => body.pause(),
    resume: () => body.resume(),
    cancel: () => body.cancel(),
  };
}

function isAborted({ signal }: UpstreamRequest): boolean {
  return signal.aborted;
}

/** Nothing listens on the socket, so that nothing was sent. */
function isNotThere(thrown: unknown): boolean {
  const { code } = thrown as { code?: unknown };
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "FailedToOpenSocket";
}
