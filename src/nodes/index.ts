export { NodePresence } from "./node-presence.ts";
export { openNodeStore } from "./sql/open.ts";
export type { Node } from "./store.ts";
