import type { Role } from "../../core/index.ts";

const managers = ["owner", "organisation_admin"] as const;
const payers = ["owner", "billing"] as const;
const readers = ["owner", "billing", "auditor", "organisation_admin"] as const;
const operators = ["owner", "operator", "auditor"] as const;
const anybody = ["owner", "operator", "billing", "auditor", "organisation_admin", "member"] as const;

/** Who may use each admin route. Their rights there depend on the accounts in their reach: see `accounts/reach.ts`. */
export const routeRoles = {
  "get /admin/v1/organisations": readers,
  "post /admin/v1/organisations": ["owner"],
  "get /admin/v1/organisations/{id}": readers,
  "patch /admin/v1/organisations/{id}": payers,
  "delete /admin/v1/organisations/{id}": ["owner"],
  "get /admin/v1/users": readers,
  "post /admin/v1/users": managers,
  "get /admin/v1/users/{id}": anybody,
  "patch /admin/v1/users/{id}": ["owner", "billing", "organisation_admin"],
  "delete /admin/v1/users/{id}": managers,
  "get /admin/v1/projects": anybody,
  "post /admin/v1/projects": managers,
  "get /admin/v1/projects/{id}": anybody,
  "patch /admin/v1/projects/{id}": ["owner", "billing", "organisation_admin"],
  "delete /admin/v1/projects/{id}": managers,
  "get /admin/v1/tokens": anybody,
  "post /admin/v1/tokens": anybody,
  "get /admin/v1/tokens/{id}": anybody,
  "patch /admin/v1/tokens/{id}": ["owner", "billing", "organisation_admin"],
  "delete /admin/v1/tokens/{id}": anybody,
  "post /admin/v1/tokens/{id}/rotate": anybody,
  "put /admin/v1/people": managers,
  "get /admin/v1/model_groups": ["owner", "operator", "billing", "auditor", "organisation_admin"],
  "post /admin/v1/model_groups": payers,
  "get /admin/v1/model_groups/{id}": ["owner", "operator", "billing", "auditor", "organisation_admin"],
  "patch /admin/v1/model_groups/{id}": payers,
  "delete /admin/v1/model_groups/{id}": payers,
  "get /admin/v1/budgets": readers,
  "post /admin/v1/budgets": ["owner", "billing", "organisation_admin"],
  "get /admin/v1/budgets/{id}": readers,
  "patch /admin/v1/budgets/{id}": ["owner", "billing", "organisation_admin"],
  "delete /admin/v1/budgets/{id}": ["owner", "billing", "organisation_admin"],
  "post /admin/v1/credits": payers,
  "get /admin/v1/entries": readers,
  "get /admin/v1/holds": readers,
  "get /admin/v1/usage": readers,
  "get /admin/v1/generations": readers,
  "get /admin/v1/generations/{id}": readers,
  "get /admin/v1/exports": readers,
  "get /admin/v1/providers": operators,
  "patch /admin/v1/providers/{id}": ["owner", "operator"],
  "get /admin/v1/routes": operators,
  "get /admin/v1/prices": operators,
  "get /admin/v1/prices/unpriced": operators,
  "get /admin/v1/jobs": operators,
  "get /admin/v1/crawls": operators,
  "get /admin/v1/realtime_sessions": operators,
  "delete /admin/v1/realtime_sessions/{id}": ["owner", "operator"],
  "get /admin/v1/alerts": operators,
  "get /admin/v1/nodes": operators,
  "get /admin/v1/config": operators,
  "post /admin/v1/config/reload": ["owner", "operator"],
  "get /admin/v1/audit": ["owner", "auditor"],
  "get /admin/v1/audit/verify": ["owner", "auditor"],
} as const satisfies Record<string, readonly Role[]>;

export type AdminRoute = keyof typeof routeRoles;
