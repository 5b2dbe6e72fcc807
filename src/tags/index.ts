export { CallTags } from "./call-tags.ts";
export { openTagValueStore } from "./sql/open.ts";
