import {
  type AbortListener,
  type AskUpstream,
  CallAborter,
  type CallSignal,
  limits,
  type ReplyBody,
  type ReplyHeaders,
  type UpstreamReply,
} from "../core/index.ts";
import { BadReply, CertificateError } from "../upstream/index.ts";
import { BoundedBody } from "./bounded-body.ts";
import type { AddressGuard, Place } from "./guard.ts";
import { OutboundError } from "./outbound-error.ts";
import { followRedirect, type Hop, isRedirect } from "./redirect.ts";
import { RedirectCookies } from "./redirect-cookies.ts";

/** How long a connection to one of the host's addresses may take to open. */
const CONNECT_MS_MAX = 5_000;

export interface OutboundRequest {
  url: string;
  /** GET by default. */
  method?: Hop["method"];
  headers?: Headers;
  body?: string | Uint8Array;
  /** Ends the request or the reply's body, with its reason. */
  signal?: CallSignal;
  /** Bytes of the reply's decoded body; it fails with `too_large` beyond them. */
  bytesMax: number;
  /** For the whole request: look-ups, redirects and the reply's body. */
  timeoutMs: number;
  /** Redirects that are followed. By default none, and the reply is the redirect itself. */
  redirectsMax?: number;
  /** Whether a redirect may lead from https: to http:, as browsers permit it. Such a hop is another origin. */
  mayLoseEncryption?: boolean;
}

export interface OutboundReply {
  status: number;
  headers: ReplyHeaders;
  /** The address that answered, after all redirects. */
  url: string;
  /** Must be read to its end, or cancelled. Fails with an `OutboundError`, or with the reason of the signal. */
  body: ReplyBody;
}

export interface OutboundOptions {
  guard: AddressGuard;
  /** A client that connects to the `address` of a request. */
  ask: AskUpstream;
}

/** The gateway's own requests to addresses that callers choose, such as webhooks and pages of the web. */
export class Outbound {
  readonly #guard: AddressGuard;
  readonly #ask: AskUpstream;

  constructor({ guard, ask }: OutboundOptions) {
    this.#guard = guard;
    this.#ask = ask;
  }

  /**
   * Checks an address before it is needed, including the look-up of its host. Rejects with an `OutboundError`. Each request
   * checks it again.
   */
  async check(url: string, { timeoutMs }: { timeoutMs: number }): Promise<void> {
    const deadline = new Deadline(timeoutMs, undefined);
    try {
      await deadline.bound(this.#guard.locate(this.#guard.check(url)));
    } finally {
      deadline.end();
    }
  }

  /** Rejects with an `OutboundError`, or with the reason of the signal. */
  async fetch(request: OutboundRequest): Promise<OutboundReply> {
    const { method = "GET", headers = new Headers(), body, redirectsMax = 0, bytesMax } = request;
    const { mayLoseEncryption = false } = request;
    const deadline = new Deadline(request.timeoutMs, request.signal);
    let hasAnswered = false;
    try {
      let place = this.#guard.check(request.url);
      let hop: Hop = { url: place.url, method, headers, body };
      const cookies = new RedirectCookies();
      for (let redirects = 0; ; redirects += 1) {
        const reply = await this.#send({ ...hop, headers: cookies.addTo(hop.url, hop.headers) }, place, deadline);
        hasAnswered = true;
        const location = reply.headers.get("location");
        if (redirectsMax === 0 || !isRedirect(reply.status, location)) {
          const { status, headers: received } = reply;
          const { signal } = deadline;
          const bounded = new BoundedBody(reply.body, { bytesMax, signal, onOver: () => deadline.end() });
          return { status, headers: received, url: place.url.href, body: bounded };
        }
        reply.body.cancel();
        if (redirects === redirectsMax) throw new OutboundError("redirects", "it redirects too often");
        cookies.keep(hop.url, reply.headers.get("set-cookie"));
        const next = followRedirect(hop, reply.status, { location, mayLoseEncryption });
        place = this.#guard.check(next.url.href);
        hop = { ...next, url: place.url };
      }
    } catch (cause) {
      deadline.end();
      if (cause instanceof OutboundError) cause.hasAnswered = hasAnswered;
      throw cause;
    }
  }

  /** Sends one request to the first address of the host that can be reached. */
  async #send({ url, method, headers, body }: Hop, place: Place, deadline: Deadline): Promise<UpstreamReply> {
    const addresses = await deadline.bound(this.#guard.locate(place));
    let lastCause: unknown;
    for (const address of addresses.slice(0, limits.outboundAddressesMax)) {
      let isSent = false;
      try {
        const onSent = (sent: boolean): void => void (isSent = sent);
        const { signal } = deadline;
        return await this.#ask({
          method,
          url: url.href,
          headers,
          body,
          signal,
          address,
          connectMsMax: CONNECT_MS_MAX,
          onSent,
        });
      } catch (cause) {
        if (deadline.signal.aborted) throw cause;
        // An address that cannot be reached does not hide that another one has a bad certificate.
        if (!(lastCause instanceof CertificateError)) lastCause = cause;
        if (isSent) break;
      }
    }
    if (lastCause instanceof CertificateError) {
      throw new OutboundError("untrusted", "its certificate is not trusted", { cause: lastCause });
    }
    if (lastCause instanceof BadReply) {
      throw new OutboundError("unreachable", "its answer is not valid HTTP", { cause: lastCause });
    }
    const message = isOtherProtocol(lastCause) ? "it does not speak TLS" : "its host could not be reached";
    throw new OutboundError("unreachable", message, { cause: lastCause });
  }
}

/** The first bytes of a server that answers in another protocol are no record of TLS. The code of OpenSSL is the same for an alert. */
function isOtherProtocol(cause: unknown): boolean {
  return cause instanceof Error && /WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH/.test(cause.message);
}

/** Aborts a request when its time is up, or when its caller does. */
class Deadline implements AbortListener {
  readonly #aborter = new CallAborter();
  readonly #outer: CallSignal | undefined;
  readonly #timer: Timer;

  constructor(milliseconds: number, outer: CallSignal | undefined) {
    this.#outer = outer;
    this.#timer = setTimeout(() => this.#abort(new OutboundError("timeout", "it took too long")), milliseconds);
    if (outer?.aborted === true) this.#abort(outer.reason);
    else outer?.addEventListener("abort", this);
  }

  get signal(): CallSignal {
    return this.#aborter.signal;
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.#abort(this.#outer?.reason);
  }

  /** Rejects at the deadline if the promise has not settled by then. */
  async bound<T>(promise: Promise<T>): Promise<T> {
    const { promise: over, reject } = Promise.withResolvers<never>();
    const listener = { handleEvent: () => reject(this.signal.reason) };
    if (this.signal.aborted) listener.handleEvent();
    else this.signal.addEventListener("abort", listener);
    try {
      return await Promise.race([over, promise]);
    } finally {
      this.signal.removeEventListener("abort", listener);
    }
  }

  /** The request is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this);
  }

  #abort(reason: unknown): void {
    this.end();
    this.#aborter.abort(reason);
  }
}
