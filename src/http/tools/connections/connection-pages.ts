/**
 * The pages on which owners connect accounts. Their address alone binds nothing: each begins with the owner's own token or sign-in, and a
 * sign-in at a server is ended by the browser that has begun it.
 *
 *   page ──token or session──▶ secret given ──▶ connected
 *                          └─▶ authorization server ──cookie, state──▶ connected
 */
import { z } from "@hono/zod-openapi";
import {
  cookieFor,
  cookieIn,
  forgetCookies,
  holderOf,
  type Principal,
  requireOwnOrigin,
  setCookie,
} from "../../../auth/index.ts";
import { GatewayError, toGatewayError } from "../../../core/index.ts";
import {
  CLIENT_METADATA_PATH,
  clientMetadata,
  type PermitConnection,
  type ToolConnection,
  DEFAULT_ACCOUNT,
} from "../../../tools/index.ts";
import { accountsOf } from "../../admin/admin-route.ts";
import { readBodyOf } from "../../admin/requests.ts";
import { type HttpRoute, platformRoute } from "../../route.ts";
import type { Connectable, Services } from "../../services.ts";
import { checkOf, type ConnectionNeeds, requireUnlimited, SECRET } from "./connection-routes.ts";
import { html, type Html, pageResponse } from "./page.ts";

type Needs = ConnectionNeeds & Pick<Services, "signIn" | "logger">;

interface PageCall {
  request: Request;
  requestId: string;
  pathParameter: (name: string) => string;
}

const FORM_BYTES_MAX = 64 * 1024;

/** How long a browser may stay at the authorization server. */
const COOKIE_SECONDS = 600;

interface ShownConnection {
  connection: ToolConnection;
  how: Connectable;
}

/** Throws 404 unless there is a connection that can be given credentials. */
async function connectionAt({ pathParameter }: PageCall, { mcp }: Needs): Promise<ShownConnection> {
  const connection = await mcp.connections.store.find(pathParameter("id"));
  const how = connection && mcp.connectable.get(connection.server);
  if (connection === undefined || how === undefined) throw noConnection();
  return { connection, how };
}

/** The same for a connection of somebody else: nobody learns that it exists. */
function noConnection(): GatewayError {
  return new GatewayError("object_not_found", "There is no such connection, or it is not yours.");
}

function requireOwner({ connection, how }: ShownConnection, { user, role }: Principal): void {
  const isOwner = how.of === "operator" ? connection.owner === "" && role === "owner" : connection.owner === user;
  if (!isOwner) throw noConnection();
}

/** The caller by the session of the browser; undefined without one that counts. */
async function signedIn(request: Request, { signIn }: Needs): Promise<Principal | undefined> {
  try {
    // A session counts at the route that does the same.
    return await signIn.authenticator.sessions?.find(request, "/v1/tools/connections");
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.status === 401) return undefined;
    throw thrown;
  }
}

function formOf({ connection, how }: ShownConnection, caller: Principal | undefined, { signIn }: Needs): Html {
  const { server, account, id } = connection;
  const named =
    account === DEFAULT_ACCOUNT ? html`<b>${server}</b>` : html`<b>${server}</b> (account <b>${account}</b>)`;
  const back = `?return=${encodeURIComponent(`/console/connections/${id}`)}`;
  const base = new URL(signIn.publicUrl).pathname.replace(/\/+$/, "");
  const others = [...signIn.issuers.keys()].map(
    (name) =>
      html`<p><a href="${`${base}/console/sign-in/${encodeURIComponent(name)}${back}`}">Sign in with ${name}</a></p>`,
  );
  const who =
    caller === undefined
      ? html`<label for="token">Your token of this gateway</label>
          <input id="token" name="token" type="password" autocomplete="off" required placeholder="tg_…" />`
      : html`<p>You are signed in as <b>${caller.userName ?? caller.user}</b>.</p>`;
  const secret =
    how.way === "secret"
      ? html`<label for="secret">Your token or key at ${server}</label>
          <input id="secret" name="secret" type="password" autocomplete="off" required />`
      : undefined;
  const text = how.way === "secret" ? "Connect" : `Continue to the sign-in of ${server}`;
  return html`<p>Calls of tools at ${named} will use the account that you connect here.</p>
    <form method="post">
      ${who} ${secret}
      <button>${text}</button>
    </form>
    ${caller === undefined ? html`${others.reduce((all, one) => html`${all}${one}`, html``)}` : undefined}
    <p><small>Only go on if you have asked for this yourself.</small></p>`;
}

async function show(call: PageCall, needs: Needs): Promise<Response> {
  return withErrors(call, needs, async () => {
    const found = await connectionAt(call, needs);
    const caller = await signedIn(call.request, needs);
    if (caller !== undefined) requireOwner(found, caller);
    return pageResponse({ title: titleOf(found.connection), content: formOf(found, caller, needs) });
  });
}

function titleOf({ server }: ToolConnection): string {
  return `Connect your account at ${server}`;
}

const form = z.object({ token: z.string().min(1).max(16_384).optional(), secret: SECRET.optional() });

/** Who has sent the form. Rejects with a `GatewayError`: 403 for a page of another site, 401 for nobody. */
async function senderOf(
  { request, requestId }: PageCall,
  { token }: z.output<typeof form>,
  needs: Needs,
): Promise<Principal> {
  const { signIn, addressOf } = needs;
  // Also with a token: another site's page must not begin the sign-in of its own user in this browser.
  requireOwnOrigin(request, signIn.publicUrl);
  if (token === undefined) {
    const caller = await signedIn(request, needs);
    if (caller !== undefined) return caller;
    throw new GatewayError("missing_token", "Give a token of this gateway, or sign in.");
  }
  const { authenticator, attempts } = signIn;
  return (await attempts.of(addressOf(request), authenticator.identify(token, { request, requestId }))).principal;
}

async function send(call: PageCall, needs: Needs): Promise<Response> {
  return withErrors(call, needs, async () => {
    const given = await readBodyOf(call, needs, { bytesMax: FORM_BYTES_MAX, read: readForm });
    const principal = await senderOf(call, given, needs);
    const found = await connectionAt(call, needs);
    requireOwner(found, principal);
    const { connection, how } = found;
    const caller = { ...call, principal };
    const { actor } = accountsOf(caller, needs).caller;
    const check = checkOf(caller, needs);
    if (how.way === "secret") {
      if (given.secret === undefined)
        throw new GatewayError("validation_failed", "Give the token or key.", { param: "secret" });
      await needs.mcp.connections.give(connection, given.secret, { actor, ...check });
      return connectedPage(connection);
    }
    await needs.mcp.connections.permit({ actor, ...check });
    return leadAway(call, needs, await needs.mcp.signIns.begin(connection, principal.tokenId));
  });
}

function readForm(bytes: Uint8Array): z.output<typeof form> {
  const fields = Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString()));
  const read = form.safeParse(fields);
  if (read.success) return read.data;
  const param = read.error.issues[0]?.path.join(".") ?? "";
  throw new GatewayError("validation_failed", `${param}: ${read.error.issues[0]?.message ?? "not valid"}`, { param });
}

/** A link, since browsers let no form lead to another site from here. */
function leadAway(
  { request }: PageCall,
  { signIn }: Needs,
  { url, browser }: { url: string; browser: string },
): Response {
  const cookie = cookieFor("connection", new URL(signIn.publicUrl).origin, new URL(request.url));
  if (cookie === undefined)
    throw new GatewayError(
      "https_required",
      "Connect accounts over HTTPS: on plain HTTP they could be read on the way.",
    );
  return pageResponse({
    title: "Sign in there",
    content: html`<p>You sign in at <b>${new URL(url).host}</b>, which then leads you back here.</p>
      <p><a class="go" rel="noreferrer" href="${url}">Continue</a></p>`,
    cookies: [setCookie(cookie, { value: browser, maxAgeSeconds: COOKIE_SECONDS, sameSite: "Lax" })],
  });
}

async function finish(call: PageCall, needs: Needs): Promise<Response> {
  const { request } = call;
  const { signIn, mcp } = needs;
  const asked = new URL(request.url);
  const cookies = forgetCookies("connection", asked);
  return withErrors(call, needs, async () => {
    const browser = cookieIn(request.headers.get("cookie"), "connection", { asked, publicUrl: signIn.publicUrl });
    return connectedPage(await mcp.signIns.finish(asked.search, browser, permitOf(call, needs)), cookies);
  });
}

/** As when the sign-in began, with the token that it began with. */
function permitOf({ request, requestId }: PageCall, needs: Needs): PermitConnection {
  const { addressOf, admin, clock, mcp } = needs;
  return (connection, tokenId) => {
    const actor = { name: `token:${tokenId}`, address: addressOf(request), requestId };
    const how = mcp.connectable.get(connection.server);
    if (how === undefined) throw noConnection();
    const check = function* () {
      const { principal, sourceId } = yield* holderOf(tokenId, clock());
      requireOwner({ connection, how }, principal);
      const { role, user, organisation } = principal;
      yield* requireUnlimited({ ...admin, caller: { actor, role, user, organisation, tokenId: sourceId } });
    };
    return { actor, check };
  };
}

function connectedPage({ server }: ToolConnection, cookies: readonly string[] = []): Response {
  return pageResponse({
    title: "Connected",
    content: html`<p>
      Your account at <b>${server}</b> is connected. You can close this page, and try the call again.
    </p>`,
    cookies,
  });
}

/** An error as a page that people read. */
async function withErrors(
  { requestId }: PageCall,
  { logger }: Needs,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    return await answer();
  } catch (thrown) {
    const { code, status, fault, cause, message } = toGatewayError(thrown);
    const line = { request_id: requestId, error: code, status };
    if (fault !== "client" && cause !== undefined)
      logger.error({ ...line, err: cause }, "an account could not be connected");
    else logger.info(line, "an account was not connected");
    return pageResponse({
      title: "Not connected",
      content: html`<p class="error">${message}</p>
        <p><small>${code} · ${requestId}</small></p>`,
      status,
    });
  }
}

const place = { kind: "http", surface: "openai", access: "public" } as const;
const path = "/console/connections/{id}";

const showRoute: HttpRoute<Needs, "public"> = { ...place, method: "get", path, handle: show };
const sendRoute: HttpRoute<Needs, "public"> = { ...place, method: "post", path, handle: send };
const callbackRoute: HttpRoute<Needs, "public"> = {
  ...place,
  method: "get",
  path: "/console/connections/callback",
  handle: finish,
};

const clientMetadataRoute = platformRoute({
  contract: {
    path: CLIENT_METADATA_PATH,
    operationId: "getClientMetadata",
    tag: "Tools",
    summary: "The gateway as a client of authorization servers of other servers of tools.",
    answer: z
      .looseObject({ client_id: z.string(), client_name: z.string(), redirect_uris: z.array(z.string()) })
      .meta({ id: "ClientMetadata" }),
  },
  access: "public",
  handle: (_call, { signIn }: Pick<Services, "signIn">) =>
    Response.json(clientMetadata(signIn.publicUrl.replace(/\/+$/, "")), {
      headers: { "cache-control": "max-age=300" },
    }),
});

export const connectionPages = [showRoute, sendRoute, callbackRoute, clientMetadataRoute];
