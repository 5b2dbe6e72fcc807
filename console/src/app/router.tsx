import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { queryClient } from "../api/query-client.ts";
import { sessionQuery } from "../api/session.ts";
import { Frame } from "../frame/frame.tsx";
import { ErrorState } from "../ui/states.tsx";
import { Missing } from "./missing.tsx";
import { pages, subpages } from "./pages.ts";
import { parseSearch, type Search } from "./search-words.ts";

const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: Missing,
  validateSearch: (search: Record<string, unknown>): Search =>
    Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)])),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "sign-in",
  component: lazyRouteComponent(() => import("../pages/sign-in/page.tsx"), "Page"),
});

/** The pages for those who are signed in. */
const framedRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "framed",
  component: Frame,
  errorComponent: ({ error, reset }) => (
    <main className="mx-auto max-w-xl p-6">
      <h1 className="sr-only">Console</h1>
      <ErrorState error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
    </main>
  ),
  beforeLoad: async ({ location }) => {
    const session = await queryClient.query(sessionQuery);
    if (session === null) redirect({ to: "/sign-in", search: { next: location.href }, throw: true });
  },
});

const indexRoute = createRoute({
  getParentRoute: () => framedRoute,
  path: "/",
  beforeLoad: () => {
    redirect({ to: "/overview", throw: true });
  },
});

const pageRoutes = Object.entries({ ...pages, ...subpages }).map(([path, load]) =>
  createRoute({ getParentRoute: () => framedRoute, path, component: lazyRouteComponent(load, "Page") }),
);

function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && value !== "" ? [[name, value]] : [],
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

/** The console's pages below `/console`. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([signInRoute, framedRoute.addChildren([indexRoute, ...pageRoutes])]),
  basepath: "/console",
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: false,
});
