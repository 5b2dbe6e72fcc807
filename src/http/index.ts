export { chatCompletionsRoute } from "./chat-completions.route.ts";
export { createHttp, type HttpOptions } from "./create-http.ts";
export { generationRoute } from "./generation.route.ts";
export { healthRoute } from "./health.route.ts";
export { modelsRoute } from "./models.route.ts";
export { openapiRoute } from "./openapi.route.ts";
export type { HttpRoute, RouteCall } from "./route.ts";
export { usageRoute, type UsageRouteDependencies } from "./usage.route.ts";
export { userInfoRoute } from "./user-info.route.ts";
