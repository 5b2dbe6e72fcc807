export { differenceIn, differenceOf, THERE_MS_MAX } from "./difference.ts";
export { NodePresence } from "./node-presence.ts";
export { isHere, reloadNodes } from "./reload-nodes.ts";
export { openNodeStore } from "./sql/open.ts";
export type { Node, NodeStore } from "./store.ts";
