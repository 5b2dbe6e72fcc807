export { UpstreamClient, type UpstreamClientOptions } from "./upstream-client.ts";
