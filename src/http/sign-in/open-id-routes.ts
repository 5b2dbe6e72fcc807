/** The way of a browser to an OpenID Provider and back. */
import { z } from "@hono/zod-openapi";
import { signIn } from "../../accounts/index.ts";
import { cookieFor, cookieIn, forgetCookies, setCookie } from "../../auth/index.ts";
import { GatewayError, toGatewayError } from "../../core/index.ts";
import { type HttpRoute, platformRoute } from "../route.ts";
import type { Services } from "../services.ts";
import { type SignInNeeds, signInBrowser } from "./begin.ts";
import type { BegunSignIn, SignInIssuer } from "./services.ts";

type OpenIdNeeds = SignInNeeds & Pick<Services, "logger">;

/** How long a browser may stay at the provider. */
const BEGUN_SECONDS = 600;

/** The sign-in that a browser has begun, as its cookie has it: bound to this browser, and to one provider. */
const begunCookie = z.strictObject({
  name: z.string(),
  state: z.string().min(20).max(200),
  nonce: z.string().min(20).max(200),
  verifier: z.string().min(43).max(128),
  isFresh: z.boolean(),
  page: z.string(),
  /** Of the session in its place: from the provider, a browser comes back without the cookie of that. */
  before: z.string().optional(),
});

/** A page of the console; the first one for anything else, which could lead away. */
function pageIn(wanted: string | null): string {
  return wanted !== null && /^\/console(?:\/(?!\/)[!-[\]-~]*)?$/.test(wanted) ? wanted : "/console";
}

function issuerOf(name: string, { issuers }: OpenIdNeeds["signIn"]): SignInIssuer {
  const issuer = issuers.get(name);
  if (issuer === undefined) throw new GatewayError("route_not_found", "There is no such sign-in here.");
  return issuer;
}

function leadTo(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

interface FailedSignIn {
  name: string;
  thrown: unknown;
  cookies: readonly string[];
}

/** Back to the page of the sign-in, which shows the code. */
function failed(
  { requestId }: OpenIdCall,
  { logger, signIn: { publicUrl } }: OpenIdNeeds,
  { name, thrown, cookies }: FailedSignIn,
): Response {
  const { code, status, fault, cause } = toGatewayError(thrown);
  const line = { request_id: requestId, issuer: name, error: code, status };
  if (fault === "gateway" && cause !== undefined) logger.error({ ...line, err: cause }, "failed");
  else logger.info(line, "a sign-in has failed");
  const page = new URL(`${publicUrl}/console/sign-in`);
  page.search = new URLSearchParams({ error: code, request_id: requestId }).toString();
  return leadTo(page.href, cookies);
}

interface OpenIdCall {
  request: Request;
  requestId: string;
  pathParameter: (name: string) => string;
}

async function beginAt(call: OpenIdCall, needs: OpenIdNeeds): Promise<Response> {
  const { request, pathParameter } = call;
  const { publicUrl } = needs.signIn;
  const name = pathParameter("name");
  const issuer = issuerOf(name, needs.signIn);
  const asked = new URL(request.url);
  const { searchParams: query } = asked;
  // The provider sends browsers to the public address: the cookie has to be of that host. A proxy may hide it, so this is tried once.
  if (asked.host !== new URL(publicUrl).host && !query.has("host")) {
    const there = new URL(`${publicUrl}/console/sign-in/${encodeURIComponent(name)}`);
    there.search = asked.search;
    there.searchParams.set("host", "public");
    return leadTo(there.href, []);
  }
  const cookie = cookieFor("sign-in", new URL(publicUrl).origin, asked);
  if (cookie === undefined)
    throw new GatewayError("https_required", "Sign in over HTTPS: on plain HTTP a session could be read on the way.");
  const began = await issuer.begin({ isFresh: query.get("fresh") === "true" }).catch(toGatewayError);
  if (began instanceof GatewayError) return failed(call, needs, { name, thrown: began, cookies: [] });
  const { url, begun } = began;
  const before = needs.signIn.authenticator.sessions?.proofOf(request);
  const kept: z.input<typeof begunCookie> = { name, ...begun, page: pageIn(query.get("return")), before };
  const value = Buffer.from(JSON.stringify(kept)).toString("base64url");
  return leadTo(url, [setCookie(cookie, { value, maxAgeSeconds: BEGUN_SECONDS, sameSite: "Lax" })]);
}

/** The sign-in that the browser has begun with this provider. Throws a 401 without it: somebody else's answer, or an old one. */
function begunIn(
  request: Request,
  name: string,
  publicUrl: string,
): BegunSignIn & Pick<z.output<typeof begunCookie>, "page" | "before"> {
  const place = { asked: new URL(request.url), publicUrl };
  const value = cookieIn(request.headers.get("cookie"), "sign-in", place) ?? "";
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(value, "base64url").toString());
  } catch {
    json = undefined;
  }
  const begun = begunCookie.safeParse(json);
  if (begun.success && begun.data.name === name) return begun.data;
  throw new GatewayError("invalid_token", "This browser has not begun this sign-in, or too long ago: sign in again.");
}

async function finishAt({ request, requestId, pathParameter }: OpenIdCall, needs: OpenIdNeeds): Promise<Response> {
  const { admin, addressOf, signIn: services } = needs;
  const { publicUrl, attempts } = services;
  const asked = new URL(request.url);
  const name = pathParameter("name");
  const issuer = issuerOf(name, services);
  const forgotten = forgetCookies("sign-in", asked);
  const address = addressOf(request);
  try {
    // Other sites' pages can send browsers here: without the cookie nothing is counted against their address.
    const begun = begunIn(request, name, publicUrl);
    const person = await attempts.of(address, issuer.finish(asked.search, begun));
    const actor = { name: `issuer:${name}`, address, requestId };
    const caller = { actor, role: "owner" } as const;
    const sourceId = await attempts.of(address, signIn({ ...admin, caller }, { ...person, name }));
    attempts.begin(sourceId);
    const { cookie } = await signInBrowser(
      { request, requestId, origin: new URL(publicUrl).origin, proof: begun.before },
      {
        actor: actor.name,
        sourceId,
        sourceHash: undefined,
        issuer: name,
        role: person.role,
        signedUntil: undefined,
        provedAt: person.provedAt,
      },
      needs,
    );
    return leadTo(publicUrl + pageIn(begun.page), [...forgotten, cookie]);
  } catch (thrown) {
    return failed({ request, requestId, pathParameter }, needs, { name, thrown, cookies: forgotten });
  }
}

const place = { kind: "http", method: "get", surface: "openai", access: "public" } as const;

const beginRoute: HttpRoute<OpenIdNeeds, "public"> = { ...place, path: "/console/sign-in/{name}", handle: beginAt };

const finishRoute: HttpRoute<OpenIdNeeds, "public"> = {
  ...place,
  path: "/console/sign-in/{name}/callback",
  handle: finishAt,
};

const listRoute = platformRoute({
  contract: {
    path: "/admin/v1/sign_in",
    operationId: "listSignIns",
    tag: "Admin",
    summary: "The sign-ins of browsers by OpenID Connect.",
    answer: z.object({
      object: z.literal("list"),
      data: z.array(
        z
          .object({
            object: z.literal("sign_in"),
            name: z.string(),
            url: z
              .string()
              .describe(
                "Where a browser begins; `return` is a page of the console, `fresh=true` asks again who it is.",
              ),
          })
          .meta({ id: "SignIn" }),
      ),
    }),
  },
  access: "public",
  handle: (_call, { signIn: { issuers, publicUrl } }: OpenIdNeeds) => {
    const data = [...issuers.keys()].map((name) => ({
      object: "sign_in",
      name,
      url: `${new URL(publicUrl).pathname.replace(/\/+$/, "")}/console/sign-in/${name}`,
    }));
    return Response.json({ object: "list", data });
  },
});

export const openIdRoutes = [beginRoute, finishRoute, listRoute];
