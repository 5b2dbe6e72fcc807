import type { JsonEdit } from "../../bodies/index.ts";
import type { JsonObject } from "../../core/index.ts";
import type { UpstreamRequestBody } from "../provider.ts";
import { refusal } from "./refusal.ts";

/** What becomes of OpenAI's fields of an image call at an upstream that lacks them. */
export interface ImageFieldRules {
  /** They change nothing by their absence, or ask for what there is one kind of only. */
  drops: readonly string[];
  /** Dropped where they say one of these, which is what the upstream does by itself; anything else is refused with 422. */
  only: Readonly<Record<string, readonly unknown[]>>;
}

/** Fields that are hints, or that ask for a stream of previews: nowhere but at OpenAI is there anything to ask. */
export const imageHints = ["moderation", "safety_identifier", "partial_images", "input_fidelity", "output_compression"];

/** No other upstream draws on glass. */
export const opaqueOnly = { background: ["auto", "opaque"] };

/** The fields that the upstream gets. */
export function fitImageFields(body: JsonObject, { drops, only }: ImageFieldRules): JsonObject {
  const entries = Object.entries(body).filter(([field, value]) => {
    if (drops.includes(field)) return false;
    const allowed = only[field];
    if (allowed === undefined) return true;
    if (value === null || allowed.includes(value)) return false;
    throw refusal(field, `this upstream does not do that: leave it out${orElse(allowed)}.`);
  });
  return Object.fromEntries(entries);
}

function orElse(allowed: readonly unknown[]): string {
  return allowed.length === 0 ? "" : `, or say ${allowed.join(" or ")}`;
}

/** A stream of OpenAI's has images in its events, not addresses: what is told as one asks for them. */
export function imagesInEvents(body: JsonObject, json: JsonObject): JsonObject {
  const asked = body["stream"] === true && json["response_format"] === undefined;
  return asked ? { ...json, response_format: "b64_json" } : json;
}

/** The edits that make the one body the other, so that what both have keeps its bytes. */
export function editsBetween(body: JsonObject, fitted: JsonObject): JsonEdit[] {
  const removed = Object.keys(body).filter((key) => !(key in fitted));
  const set = Object.entries(fitted).filter(([key, value]) => body[key] !== value);
  return [
    ...removed.map((key): JsonEdit => ({ remove: key })),
    ...set.map(([key, value]): JsonEdit => ({ set: key, value: JSON.stringify(value) })),
  ];
}

/** Images asked for; what is none of a number is one. */
export function requestedImageCount({ n }: JsonObject): number {
  return typeof n === "number" && n > 1 ? n : 1;
}

/** The same request for each image asked for, where an upstream makes one a call. */
export function onceForEach(
  body: JsonObject,
  request: UpstreamRequestBody,
): [UpstreamRequestBody, ...UpstreamRequestBody[]] {
  return [request, ...Array.from({ length: requestedImageCount(body) - 1 }, () => request)];
}
