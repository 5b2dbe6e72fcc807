import type { JsonObject } from "../../core/index.ts";

/** A version of Firecrawl's API. */
export type ApiVersion = "v1" | "v2";

/** How the bodies of an operation of Firecrawl's v1 API become those of v2, and its answers those of v1. */
export interface BodyTranslation {
  /** The body for v2. What it does not know it leaves in, so that v2 refuses it by its name. */
  request: (body: JsonObject) => JsonObject;
  /** The answer for v1; `asked` is the body of v1. */
  answer: (answer: JsonObject, asked: JsonObject) => JsonObject;
}
