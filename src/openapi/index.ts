export { openapiDocument } from "./document.ts";
export { publishedDocument } from "./published-document.ts";
