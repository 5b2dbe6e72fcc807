import { Hono, type HonoRequest } from "hono";
import {
  type Environment,
  errorBody,
  GatewayError,
  idHeaders,
  requestId,
  type Surface,
  toGatewayError,
} from "../core/index.ts";
import type { Authenticator } from "../auth/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { HttpRoute } from "./route.ts";

export interface HttpOptions {
  routes: readonly HttpRoute[];
  authenticator: Authenticator;
  environment: Pick<Environment, "clock" | "randomBytes">;
  logger: Logger;
  /** Whether new calls are refused because the server is going down. */
  draining: () => boolean;
}

/** Which API an unknown path belongs to, for the shape of its 404. */
function surfaceOf(path: string): Surface {
  if (path.startsWith("/v1/messages")) return "anthropic";
  return path.startsWith("/v2/") ? "firecrawl" : "openai";
}

/** The HTTP surface: routes requests, authenticates them, and turns every error into its surface's body. */
export function createHttp(options: HttpOptions): (request: Request) => Response | Promise<Response> {
  const { clock, randomBytes } = options.environment;
  const app = new Hono();
  for (const route of options.routes) {
    app.on(route.contract.method, route.contract.getRoutingPath(), async (context) => {
      const id = requestId(clock, randomBytes);
      try {
        return withHeaders(await answer(options, route, context.req, id), idHeaders(route.surface, id));
      } catch (thrown) {
        return refusal(options.logger, route.surface, thrown, id);
      }
    });
  }
  app.notFound((context) => {
    const { method, path } = context.req;
    const error = new GatewayError("route_not_found", `There is no ${method} ${path.slice(0, 200)} here.`);
    return refusal(options.logger, surfaceOf(path), error, requestId(clock, randomBytes));
  });
  return app.fetch;
}

function answer(
  { authenticator, draining }: HttpOptions,
  route: HttpRoute,
  received: HonoRequest,
  id: string,
): Response | Promise<Response> {
  const request = received.raw;
  if (route.access === "public") return route.handle(request);
  if (draining()) throw new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
  const pathParameter = (name: string): string => received.param(name) ?? "";
  const principal = authenticator.authenticate(request.headers);
  return principal instanceof Promise
    ? principal.then((known) => route.handle({ request, requestId: id, principal: known, pathParameter }))
    : route.handle({ request, requestId: id, principal, pathParameter });
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response;
}

/** The answer for anything thrown. What was our own doing is logged with its cause, which the caller never gets. */
function refusal(logger: Logger, surface: Surface, thrown: unknown, id: string): Response {
  const error = toGatewayError(thrown);
  const line = { request_id: id, status: error.status, error: error.code };
  if (error.fault === "gateway" && error.cause !== undefined) logger.error({ ...line, err: error.cause }, "failed");
  else logger.info(line, "refused");
  const headers: Record<string, string> = { ...error.headers, ...idHeaders(surface, id) };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  // Else the rest of the body could drip in for ever.
  if (error.status === 408) headers["connection"] = "close";
  return Response.json(errorBody(surface, error, id), { status: error.status, headers });
}
