export { KeyRing } from "./key-ring.ts";
export { ModelRouter, mayUse, type Target, type UpstreamRoute } from "./router.ts";
