import type { JsonEdit } from "../../../bodies/index.ts";
import type { JsonObject } from "../../../core/index.ts";
import type { UpstreamRequestBody } from "../../provider.ts";
import { refusal } from "../refusal.ts";

/** How an upstream without some of OpenAI's fields of an image call handles them. */
export interface ImageFieldRules {
  /** Fields that can be omitted without an effect, or that choose between kinds of which the upstream has one. */
  drops: readonly string[];
  /**
   * Fields that are dropped if they have one of these values, the upstream's fixed behaviour; else refused with 422.
   */
  only: Readonly<Record<string, readonly unknown[]>>;
}

/** Hints, and options for a stream of previews, which only OpenAI supports. */
export const imageHints = ["moderation", "safety_identifier", "partial_images", "input_fidelity", "output_compression"];

/** No other upstream generates transparent backgrounds. */
export const opaqueOnly = { background: ["auto", "opaque"] };

/** The fields that are sent to the upstream. Throws 422 for a value that it can't fulfil. */
export function fitImageFields(body: JsonObject, { drops, only }: ImageFieldRules): JsonObject {
  const entries = Object.entries(body).filter(([field, value]) => {
    if (drops.includes(field)) return false;
    const allowed = Object.hasOwn(only, field) ? only[field] : undefined;
    if (allowed === undefined) return true;
    if (value === null || allowed.includes(value)) return false;
    throw refusal(field, `this upstream does not support this value: leave it out${orElse(allowed)}.`);
  });
  return Object.fromEntries(entries);
}

function orElse(allowed: readonly unknown[]): string {
  return allowed.length === 0 ? "" : `, or use ${allowed.join(" or ")}`;
}

/** The events of a stream contain images, not URLs, so a call with a stream requests images in the answer. */
export function imagesInEvents(body: JsonObject, json: JsonObject): JsonObject {
  const isNeeded = body["stream"] === true && json["response_format"] === undefined;
  return isNeeded ? { ...json, response_format: "b64_json" } : json;
}

/** The edits that turn `body` into `fitted`; members that are in both keep their bytes. */
export function editsBetween(body: JsonObject, fitted: JsonObject): JsonEdit[] {
  const removed = Object.keys(body).filter((key) => !(key in fitted));
  const set = Object.entries(fitted).filter(([key, value]) => body[key] !== value);
  return [
    ...removed.map((key): JsonEdit => ({ remove: key })),
    ...set.map(([key, value]): JsonEdit => ({ set: key, value: JSON.stringify(value) })),
  ];
}

/** The number of requested images; one if `n` is no number. */
export function requestedImageCount({ n }: JsonObject): number {
  return typeof n === "number" && n > 1 ? n : 1;
}

/** Repeats a request for each requested image, for upstreams that generate one image per call. */
export function onceForEach(
  body: JsonObject,
  request: UpstreamRequestBody,
): [UpstreamRequestBody, ...UpstreamRequestBody[]] {
  return [request, ...Array.from({ length: requestedImageCount(body) - 1 }, () => request)];
}
