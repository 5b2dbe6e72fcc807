import { z } from "@hono/zod-openapi";
import { endSession, listSessions, sessionJson, takeSignInCode } from "../../accounts/index.ts";
import { forgetCookies, requireOwnOrigin } from "../../auth/index.ts";
import { GatewayError, isLoopbackName, type Role } from "../../core/index.ts";
import { accountsOf, type AdminNeeds, adminRoute, listOf, listSchema, pageQuery } from "../admin/admin-route.ts";
import { FRESH_MS } from "../admin/fresh-sign-in.ts";
import { actHeaders, actQuery, bodyOf, contextOf, idOf, reference, role } from "../admin/requests.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute } from "../route.ts";
import { type SignInNeeds, sessionCookieFor, signInBrowser } from "./begin.ts";

type SessionNeeds = AdminNeeds & SignInNeeds;

const time = z.iso.datetime();

const sessionAnswer = z
  .object({
    object: z.literal("session"),
    id: z.string().nullable().describe("Null of a caller with a token."),
    user: z.string(),
    user_id: z.string(),
    role,
    organisation_id: z.string().nullable(),
    issuer: z.string().nullable().describe("The sign-in of the configuration; null of a token or a code."),
    signed_in_at: time.nullable(),
    expires_at: time.nullable().describe("Whatever it does; without requests it ends before."),
    fresh_until: time.nullable().describe("Until when it can post credits without another sign-in."),
  })
  .meta({ id: "Session" });

interface ShownSession {
  id: string;
  issuer: string | undefined;
  provedAt: number | undefined;
  createdAt: number;
  expiresAt: number;
}

interface ShownUser {
  name: string;
  id: string;
  role: Role;
  organisation: string | undefined;
}

const timeOf = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());

function shown(user: ShownUser, session: ShownSession | undefined, expiresAt = session?.expiresAt) {
  const { provedAt } = session ?? {};
  return {
    object: "session" as const,
    id: session?.id ?? null,
    user: user.name,
    user_id: user.id,
    role: user.role,
    organisation_id: user.organisation ?? null,
    issuer: session?.issuer ?? null,
    signed_in_at: timeOf(session?.createdAt),
    expires_at: timeOf(expiresAt),
    fresh_until: timeOf(provedAt === undefined ? undefined : provedAt + FRESH_MS),
  };
}

const noStore = { "cache-control": "no-store" };

const signInBody = z
  .strictObject({
    token: z.string().min(1).max(16_384).optional().describe("A token of the user."),
    code: z.string().min(1).max(128).optional().describe("The code that a sandbox has printed, in place of a token."),
  })
  .refine(({ token, code }) => (token === undefined) !== (code === undefined), "either token or code")
  .meta({ id: "SignInRequest" });

/** Who signs in, by a token or a code. */
async function signedInBy(
  { token, code }: z.output<typeof signInBody>,
  { request, requestId }: { request: Request; requestId: string },
  { signIn: { authenticator, isSandbox }, admin, addressOf, clock }: SessionNeeds,
) {
  if (token !== undefined) {
    const { principal, secretHash, keyHash } = await authenticator.identify(token, { request, requestId });
    const { tokenId, signedUntil, role: given } = principal;
    // The role of a signed token is its own; that of a stored one may change.
    const signed = { role: signedUntil === undefined ? undefined : given, signedUntil };
    const proof = { sourceHash: secretHash, keyHash, provedAt: clock() };
    return { actor: `token:${tokenId}`, sourceId: tokenId, ...signed, ...proof };
  }
  const address = addressOf(request)?.replace(/^::ffff:/, "") ?? "";
  const isLocal =
    isLoopbackName(address === "::1" ? "[::1]" : address) && isLoopbackName(new URL(request.url).hostname);
  if (!isSandbox || !isLocal)
    throw new GatewayError("invalid_token", "Codes sign in to a sandbox alone, on the machine that it runs on.");
  const caller = { actor: { name: "sandbox", address, requestId }, role: "owner" } as const;
  const sourceId = await takeSignInCode({ ...admin, caller }, code ?? "");
  const proof = { role: undefined, signedUntil: undefined, provedAt: clock() };
  return { actor: "sandbox", sourceId, sourceHash: undefined, ...proof };
}

const signInRoute = platformRoute({
  contract: {
    method: "post",
    path: "/admin/v1/session",
    operationId: "signIn",
    tag: "Admin",
    summary: "Sign a browser in: the answer sets the cookie of a session.",
    body: signInBody,
    answer: sessionAnswer,
    forbidden: "No page of this gateway has made the request, or it came over plain HTTP.",
    limited: "Too many sign-ins have failed.",
  },
  access: "public",
  handle: async ({ request, requestId }, needs: SessionNeeds) => {
    const { signIn, addressOf } = needs;
    const origin = requireOwnOrigin(request, signIn.publicUrl);
    sessionCookieFor({ request, origin });
    const wanted = await bodyOf({ request }, needs, signInBody);
    const signedIn = await signIn.attempts.of(addressOf(request), signedInBy(wanted, { request, requestId }, needs));
    signIn.attempts.begin(signedIn.sourceId);
    const from = { request, requestId, origin };
    const { session, user, cookie } = await signInBrowser(from, { ...signedIn, issuer: undefined }, needs);
    const { id, name, organisationId: organisation, role: ofUser = "member" } = user;
    const answer = shown({ id, name, organisation, role: session.role ?? ofUser }, session);
    return Response.json(answer, { headers: { ...noStore, "set-cookie": cookie } });
  },
});

const currentRoute = adminRoute(
  {
    route: "get /admin/v1/session",
    operationId: "getSession",
    summary: "Who calls, by a session or a token.",
    answer: sessionAnswer,
  },
  async ({ principal }) => {
    const { user: id, userName: name = id, role: given, organisation, session, expiresAt } = principal;
    const answer = shown({ id, name, role: given, organisation }, session, session?.expiresAt ?? expiresAt);
    return Response.json(answer, { headers: noStore });
  },
);

const endedAnswer = z
  .object({
    object: z.literal("session"),
    id: z.string(),
    ended: z.literal(true),
    sign_out_url: z
      .url()
      .nullable()
      .describe("Where the browser signs out at its issuer; null if there is no such place."),
  })
  .meta({ id: "EndedSession" });

const signOutRoute = adminRoute<SessionNeeds>(
  {
    route: "delete /admin/v1/session",
    operationId: "signOut",
    summary: "End the session of the browser that asks.",
    answer: endedAnswer,
    notFound: "The caller has a token, and no session.",
  },
  async (call, needs) => {
    const { session } = call.principal;
    if (session === undefined)
      throw new GatewayError("account_not_found", "The request has a token: there is no session to end.");
    await endSession(accountsOf(call, needs), session.id);
    const headers = new Headers(noStore);
    for (const cookie of forgetCookies("session", new URL(call.request.url))) headers.append("set-cookie", cookie);
    const issuer = session.issuer === undefined ? undefined : needs.signIn.issuers.get(session.issuer);
    const url = (await issuer?.signOutUrl()) ?? null;
    return Response.json({ object: "session", id: session.id, ended: true, sign_out_url: url }, { headers });
  },
);

const listedAnswer = z
  .object({
    object: z.literal("session"),
    id: z.string(),
    user: z.string(),
    user_id: z.string(),
    token_id: z.string().describe("The token under which its calls are recorded."),
    begun_with: z.string().describe("The id of the token that it was begun with: it ends with that."),
    issuer: z.string().nullable(),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: time,
    seen_at: time.describe("Of its last request, to the minute."),
    expires_at: time,
  })
  .meta({ id: "BrowserSession" });

const query = pageQuery.extend({ user: reference.optional().describe("Theirs only, by id or name.") });

const listRoute = adminRoute<SessionNeeds>(
  {
    route: "get /admin/v1/sessions",
    operationId: "listSessions",
    summary: "Open sessions of browsers in the caller's reach, by id.",
    query,
    answer: listSchema(listedAnswer),
    notFound: "There is no such user in the caller's reach.",
  },
  async (call, needs) => {
    const { limit, after, user } = parseQuery(call.request, query);
    const { idleMs } = needs.signIn;
    const found = await listSessions(accountsOf(call, needs), { limit: limit + 1, after, user, idleMs });
    return Response.json(listOf(found, limit, sessionJson), { headers: noStore });
  },
);

const endRoute = adminRoute<SessionNeeds>(
  {
    route: "delete /admin/v1/sessions/{id}",
    operationId: "endSession",
    summary: "End a session of a browser.",
    params: z.object({ id: z.string() }),
    query: actQuery,
    requestHeaders: actHeaders,
    answer: z
      .object({ object: z.literal("session"), id: z.string(), ended: z.literal(true) })
      .meta({ id: "EndedBrowserSession" }),
    notFound: "There is no such session in the caller's reach.",
  },
  async (call, needs) => {
    const { session } = await endSession(accountsOf(call, needs), idOf(call), contextOf(call));
    return Response.json({ object: "session", id: session.id, ended: true }, { headers: noStore });
  },
);

export const sessionRoutes = [signInRoute, currentRoute, signOutRoute, listRoute, endRoute];
