/** The admin API without a server: for commands, which act on the storage through the same routes as requests do. */
import type { Caller } from "../../accounts/index.ts";
import type { Principal } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import { mountFeatures } from "../feature.ts";
import { createRouter } from "../router.ts";
import type { AdminNeeds } from "./admin-route.ts";
import { adminRoutes } from "./admin-routes.ts";

/** Answers a request as the caller whom it was made for. Rejects with the `GatewayError` of a refusal. */
export type AdminApi = (request: Request) => Promise<Response>;

export function createAdminApi(needs: AdminNeeds & { caller: Caller }): AdminApi {
  const router = createRouter(mountFeatures([{ routes: adminRoutes }], needs));
  const principal: Principal = {
    tokenId: "",
    user: "",
    accountId: "",
    service: false,
    role: needs.caller.role,
    models: undefined,
    rates: undefined,
    expiresAt: undefined,
  };
  return async (request) => {
    const found = router.find(request.method, new URL(request.url).pathname);
    if (found?.route.kind !== "http" || found.route.access === "public")
      throw new GatewayError("route_not_found", `There is no ${request.method} ${request.url}.`);
    const { route, pathParameter } = found;
    const answered = await route.handle({ request, requestId: "", principal, pathParameter });
    if (answered instanceof Response) return answered;
    throw new TypeError("an admin route is paid for");
  };
}
