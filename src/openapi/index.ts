export { type DocumentOptions, openapiDocument } from "./document.ts";
