export { parseHtml } from "./html/parse.ts";
export { PageError, type PageFailure } from "./page-error.ts";
