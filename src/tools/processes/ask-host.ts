/** Requests to the host of the servers that are programs. */
import type { AskUpstream, UpstreamRequest } from "../../core/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import { USER_HEADER } from "./plan.ts";

/** The host takes this long to start, at most. */
const START_MS_MAX = 5_000;
const RETRY_MS = 50;

/** The URL of a server there. */
export function hostedUrl(name: string): string {
  return `http://tools.invalid/${name}`;
}

/** Asks on behalf of one user. */
export function askHost(socket: string, user: string): AskUpstream {
  const ask = askByFetch((input, init) => fetch(input, { ...init, unix: socket }));
  return async (request) => {
    const headers = new Headers([...request.headers, [USER_HEADER, user]]);
    const until = performance.now() + START_MS_MAX;
    for (;;) {
      try {
        return await ask({ ...request, headers });
      } catch (thrown) {
        if (!isNotThere(thrown) || isAborted(request) || performance.now() > until) throw thrown;
        await Bun.sleep(RETRY_MS);
      }
    }
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
