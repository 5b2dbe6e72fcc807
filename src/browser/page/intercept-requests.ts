import type { CDPSession } from "playwright-core";
import type { Credentials } from "../proxy/guarded-proxy.ts";

export interface InterceptOptions {
  session: CDPSession;
  /** Of the page that was asked for. */
  origin: string;
  headers: readonly { name: string; value: string }[];
  /** For the proxy. */
  credentials: Credentials;
}

/**
 * Gives the proxy its credentials, and the requests to one origin the caller's headers. Playwright's own means don't fit: it
 * repeats added headers when a redirect leads to another origin, and stops every request to answer the proxy.
 *
 * The browser asks for the credentials once, at the first request, and sends them along from then on. A redirect is a request
 * of its own here; it gets no headers unless it stays at the origin.
 */
export async function interceptRequests({ session, origin, headers, credentials }: InterceptOptions): Promise<void> {
  session.on("Fetch.authRequired", ({ requestId, authChallenge }) => {
    const isProxy = authChallenge.source === "Proxy";
    const answer = isProxy
      ? { response: "ProvideCredentials" as const, ...credentials }
      : { response: "Default" as const };
    settle(session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse: answer }));
  });
  const names = new Set(headers.map(({ name }) => name));
  session.on("Fetch.requestPaused", ({ requestId, request }) => {
    const kept = Object.entries(request.headers).filter(([name]) => !names.has(name.toLowerCase()));
    const all = [...kept.map(([name, value]) => ({ name, value })), ...headers];
    settle(session.send("Fetch.continueRequest", { requestId, ...(headers.length > 0 && { headers: all }) }));
  });
  await session.send("Fetch.enable", { handleAuthRequests: true, patterns: [{ urlPattern: `${origin}/*` }] });
}

/** The page may be gone before the answer arrives; its scrape then ends for that reason. */
function settle(sent: Promise<unknown>): void {
  sent.catch(() => undefined);
}
