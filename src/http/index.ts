export { answerHeaders } from "./answer-headers.ts";
export { type CorsPolicy, withCors } from "./cors.ts";
export { createHttp } from "./create-http.ts";
export { type Feature, mountFeatures, type RunningPart, startFeatures } from "./feature.ts";
export { features } from "./features.ts";
export { sharedCheck } from "./platform/ready.ts";
export type { RouteCall } from "./route.ts";
export type { Services } from "./services.ts";
export { type SocketEvents, Sockets, type Upgrade } from "./sockets.ts";
