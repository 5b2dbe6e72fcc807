import type { Role } from "../../core/index.ts";

/** Who may use each admin route. Their rights there depend on the accounts in their reach: see `accounts/reach.ts`. */
export const routeRoles = {
  "get /admin/v1/audit": ["owner", "auditor"],
} as const satisfies Record<string, readonly Role[]>;

export type AdminRoute = keyof typeof routeRoles;
