import type { ComponentType } from "react";
import type { PagePath } from "./navigation.ts";

type Loaded = Promise<{ Page: ComponentType }>;

/** The component of each page of the navigation, loaded when it is first shown. */
export const pages: Readonly<Record<PagePath, () => Loaded>> = {
  overview: () => import("../pages/overview/page.tsx"),
  spend: () => import("../pages/spend/page.tsx"),
  accounts: () => import("../pages/accounts/page.tsx"),
  credits: () => import("../pages/credits/page.tsx"),
  requests: () => import("../pages/requests/page.tsx"),
  providers: () => import("../pages/providers/page.tsx"),
  models: () => import("../pages/models/page.tsx"),
  routes: () => import("../pages/routes/page.tsx"),
  playground: () => import("../pages/playground/page.tsx"),
  jobs: () => import("../pages/jobs/page.tsx"),
  alerts: () => import("../pages/alerts/page.tsx"),
  audit: () => import("../pages/audit/page.tsx"),
  nodes: () => import("../pages/nodes/page.tsx"),
  config: () => import("../pages/config/page.tsx"),
};

/** Pages below others, which are not in the navigation. */
export const subpages: Readonly<Record<string, () => Loaded>> = {
  "requests/$id": () => import("../pages/requests/story.tsx"),
};

/** Begins to load the code of the page at a path, if it is one of the navigation. */
export function preloadPage(path: string): void {
  const load = Object.entries(pages).find(([name]) => path === `/console/${name}`)?.[1];
  // A failure is met again when the page is shown.
  load?.().catch(() => undefined);
}
