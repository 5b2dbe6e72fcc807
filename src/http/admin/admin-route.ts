import { z } from "@hono/zod-openapi";
import type { AccountsDependencies, Caller } from "../../accounts/index.ts";
import type { Actor } from "../../audit/index.ts";
import type { PlatformContract } from "../contract.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { type AdminRoute, routeRoles } from "./route-roles.ts";

export interface AdminNeeds
  extends
    Pick<
      Services,
      | "admin"
      | "addressOf"
      | "body"
      | "memory"
      | "generations"
      | "clock"
      | "nodes"
      | "sessionDirectory"
      | "batchDirectory"
    >,
    Partial<Pick<Services, "isDraining" | "authenticate" | "tables">> {
  /** Acts in place of the token of each request: that of a command, which has none. */
  caller?: Caller;
}

interface AdminContract extends Omit<PlatformContract, "method" | "path" | "tag"> {
  /** Method and path, as in `routeRoles`. */
  route: AdminRoute;
}

/** A route for some roles. Its answer is JSON. */
export function adminRoute<Needs extends AdminNeeds = AdminNeeds>(
  { route, ...contract }: AdminContract,
  answer: (call: RouteCall, needs: Needs) => Promise<Response>,
) {
  const [method, path = ""] = route.split(" ");
  return platformRoute({
    contract: { ...contract, method: method as NonNullable<PlatformContract["method"]>, path, tag: "Admin" },
    access: "roles",
    roles: routeRoles[route],
    handle: (call: RouteCall, needs: Needs) => answer(call, needs),
  });
}

/** Who acts by a request, for the audit log. */
function actorOf({ request, requestId, principal }: RouteCall, { addressOf }: Pick<AdminNeeds, "addressOf">): Actor {
  return { name: `token:${principal.tokenId}`, address: addressOf(request), requestId };
}

function callerOf(call: RouteCall, needs: AdminNeeds): Caller {
  const { tokenId, role, user, organisation, signedUntil, session } = call.principal;
  return {
    actor: actorOf(call, needs),
    role,
    user,
    organisation,
    tokenId: session?.sourceId ?? tokenId,
    session: session?.id,
    signedUntil,
  };
}

/** The dependencies of an act by the caller of a request. */
export function accountsOf(call: RouteCall, needs: AdminNeeds): AccountsDependencies {
  return { ...needs.admin, caller: needs.caller ?? callerOf(call, needs) };
}

/** Tells whether the caller has the same rights as now: for answers that last. Rejects if their token is no longer taken. */
export async function rightsOf({ request }: RouteCall, { authenticate }: AdminNeeds): Promise<() => Promise<boolean>> {
  if (authenticate === undefined) return () => Promise.resolve(true);
  const now = await authenticate(request);
  return async () => {
    const { user, role, organisation } = await authenticate(request);
    return user === now.user && role === now.role && organisation === now.organisation;
  };
}

const PAGE_MAX = 500;

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(100),
  after: z
    .string()
    .max(128)
    .regex(/^[!-~]+$/)
    .optional()
    .describe("The id of the last one of the page before."),
});

export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal("list"), data: z.array(item), has_more: z.boolean() });
}

/** A page of a list: one more than `limit` was read, if there are more. */
export function listOf<Item, Shown>(found: readonly Item[], limit: number, show: (item: Item) => Shown) {
  return { object: "list" as const, data: found.slice(0, limit).map(show), has_more: found.length > limit };
}

/** A page of a list that is in memory as a whole, by id. */
export function pageOf<Item, Shown>(
  items: readonly Item[],
  { limit, after }: { limit: number; after?: string | undefined },
  { idOf, show }: { idOf: (item: Item) => string; show: (item: Item) => Shown },
) {
  const rest = items.filter((item) => after === undefined || idOf(item) > after);
  return listOf(
    rest.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)),
    limit,
    show,
  );
}
