/** The parts of this folder that training and measuring the main content need, beside the pool. */
export { dropHidden } from "./html/hidden/index.ts";
export { parseHtml } from "./html/parse.ts";
export { mainContent } from "./main-content/index.ts";
export * as training from "./main-content/training.ts";
