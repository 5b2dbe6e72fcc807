/** The end of every sign-in: a session, and its cookie. */
import { type BegunSession, beginSession, type SessionRequest } from "../../accounts/index.ts";
import { cookieFor, setCookie } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { Services } from "../services.ts";

export type SignInNeeds = Pick<Services, "admin" | "addressOf" | "signIn" | "clock">;

interface SignedIn extends Pick<
  SessionRequest,
  "sourceId" | "sourceHash" | "keyHash" | "issuer" | "role" | "signedUntil" | "provedAt"
> {
  /** As the audit log names who signs in. */
  actor: string;
}

interface SignInRequest {
  request: Request;
  requestId: string;
  /** Of the page that the cookie is for. */
  origin: string;
  /** Shows the session that the browser has had, if its cookie does not come with the request. */
  proof?: string | undefined;
}

/** The cookie's name for the page. Throws 403 on plain HTTP, where anybody on the way would read it. */
export function sessionCookieFor({ request, origin }: Pick<SignInRequest, "request" | "origin">) {
  const cookie = cookieFor("session", origin, new URL(request.url));
  if (cookie !== undefined) return cookie;
  throw new GatewayError("https_required", "Sign in over HTTPS: on plain HTTP a session could be read on the way.");
}

/** Begins a session in place of the one that the browser has had. Resolves with it and the header `set-cookie`. */
export async function signInBrowser(
  from: SignInRequest,
  { actor, ...signedIn }: SignedIn,
  { admin, addressOf, signIn: { authenticator, msMax } }: SignInNeeds,
): Promise<BegunSession & { cookie: string }> {
  const { request, requestId } = from;
  const name = sessionCookieFor(from);
  const address = addressOf(request);
  const caller = { actor: { name: actor, address, requestId }, role: "owner" } as const;
  const { sessions } = authenticator;
  const replaces =
    (await sessions?.idOf(request)) ?? (from.proof === undefined ? undefined : await sessions?.idByProof(from.proof));
  const begun = await beginSession(
    { ...admin, caller },
    {
      ...signedIn,
      address,
      agent: request.headers.get("user-agent") ?? undefined,
      msMax,
      replaces,
    },
  );
  const maxAgeSeconds = Math.ceil((begun.session.expiresAt - begun.session.createdAt) / 1_000);
  return { ...begun, cookie: setCookie(name, { value: begun.secret, maxAgeSeconds, sameSite: "Strict" }) };
}
