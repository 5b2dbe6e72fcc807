export { Browser, type BrowserOptions } from "./browser.ts";
export { BrowserError } from "./browser-error.ts";
export type { PageAction, RenderedPage, RenderRequest } from "./render-request.ts";
export { runBrowserChild } from "./run-browser-child.ts";
