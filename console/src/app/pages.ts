import type { ComponentType } from "react";
import type { PagePath } from "./navigation.ts";

type Loaded = Promise<{ Page: ComponentType }>;

/** The component of each page of the navigation, loaded when it is first shown. */
export const pages: Readonly<Record<PagePath, () => Loaded>> = {
  overview: () => import("../pages/overview/page.tsx"),
  spend: () => import("../pages/spend/page.tsx"),
  requests: () => import("../pages/requests/page.tsx"),
};

/** Pages below others, which are not in the navigation. */
export const subpages: Readonly<Record<string, () => Loaded>> = {
  "requests/$id": () => import("../pages/requests/story.tsx"),
};
