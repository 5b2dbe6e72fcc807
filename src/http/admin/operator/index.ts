import { alertsRoute, crawlsRoute, jobsRoute, nodesRoute } from "./activity.ts";
import { configRoute, explainRoute, routesRoute } from "./config.ts";
import { pricesRoute, unpricedRoute } from "./prices.ts";
import { providersRoute, switchRoute } from "./providers.ts";

/** Of a running gateway: a command has no router, nor what it knows of its upstreams. */
export const operatorRoutes = [
  providersRoute,
  switchRoute,
  routesRoute,
  explainRoute,
  pricesRoute,
  unpricedRoute,
  jobsRoute,
  crawlsRoute,
  alertsRoute,
  nodesRoute,
  configRoute,
];
