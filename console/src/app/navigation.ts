import type { Role } from "../api/types.ts";

/** A page of the navigation. */
export interface PageEntry {
  /** Below `/console/`. */
  path: string;
  title: string;
  section: "Money" | "Traffic" | "Operation";
  /** Those whose API the page needs; absent if it is for everybody. */
  roles?: readonly Role[];
}

/** Those who may read the books. */
const readers = ["owner", "billing", "auditor", "organisation_admin"] as const;

/** Those who may read the gateway's own state. */
const operators = ["owner", "operator", "auditor"] as const;

/**
 * The pages in the order of the navigation. A page is a line here, its component in `pages.ts`, and a folder in `pages/`; a page whose
 * API does not exist has no line.
 */
export const navigation = [
  { path: "overview", title: "Overview", section: "Money" },
  { path: "spend", title: "Spend", section: "Money" },
  { path: "accounts", title: "Accounts", section: "Money" },
  { path: "credits", title: "Credits", section: "Money", roles: readers },
  { path: "requests", title: "Requests", section: "Traffic" },
  { path: "providers", title: "Providers", section: "Traffic", roles: operators },
  { path: "models", title: "Models", section: "Traffic" },
  { path: "routes", title: "Routes", section: "Traffic", roles: operators },
  { path: "playground", title: "Playground", section: "Traffic" },
  { path: "jobs", title: "Jobs", section: "Operation", roles: operators },
  { path: "alerts", title: "Alerts", section: "Operation", roles: operators },
  { path: "audit", title: "Audit", section: "Operation", roles: ["owner", "auditor"] },
  { path: "nodes", title: "Nodes", section: "Operation", roles: operators },
  { path: "config", title: "Config", section: "Operation", roles: operators },
] as const satisfies readonly PageEntry[];

export type PagePath = (typeof navigation)[number]["path"];

/** The pages for a role. */
export function pagesFor(role: Role): readonly (PageEntry & { path: PagePath })[] {
  const pages: readonly (PageEntry & { path: PagePath })[] = navigation;
  return pages.filter(({ roles }) => roles === undefined || roles.includes(role));
}
