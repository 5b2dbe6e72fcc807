import type { AskUpstream } from "../../core/index.ts";

/** Added to each request to a server. */
export interface ServerCredentials {
  /** The headers of the next request. Rejects with a `GatewayError` if there are none. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /**
   * After an answer of 401 or 403: resolves with whether the same request may be sent once more, with other headers. Rejects with a
   * `GatewayError` if the owner has to do something. `challenge` is the answer's `www-authenticate`.
   */
  refused(refusal: {
    status: number;
    challenge: string | null;
    headers: Readonly<Record<string, string>>;
  }): Promise<boolean>;
}

/** Asks with credentials. A request that was refused for them is sent once more if there are others: the server has done nothing of it. */
export function askWith(ask: AskUpstream, credentials: ServerCredentials): AskUpstream {
  return async (request) => {
    const send = async () => {
      const given = await credentials.headers();
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(given)) headers.set(name, value);
      return { given, reply: await ask({ ...request, headers }) };
    };
    const { given, reply } = await send();
    const { status } = reply;
    if (status !== 401 && status !== 403) return reply;
    const challenge = reply.headers.get("www-authenticate");
    const isOther = await credentials.refused({ status, challenge, headers: given }).catch((thrown: unknown) => {
      reply.body.cancel();
      throw thrown;
    });
    if (!isOther) return reply;
    reply.body.cancel();
    return (await send()).reply;
  };
}
