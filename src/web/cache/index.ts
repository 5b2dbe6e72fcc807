export { type KeptText, KeptTexts } from "./kept-texts.ts";
export { PageCache } from "./page-cache.ts";
