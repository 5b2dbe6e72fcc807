export { Browser, type BrowserOptions } from "./browser.ts";
export { BrowserError, type BrowserFailure } from "./browser-error.ts";
export type { ActionResults, PageAction, RenderedPage, RenderRequest, Screenshot } from "./render-request.ts";
export { runBrowserChild } from "./run-browser-child.ts";
