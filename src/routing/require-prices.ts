import { GatewayError, keyOfBucket, keysOf, type UsageBucket } from "../core/index.ts";
import type { RequestedExtras } from "../providers/index.ts";
import { quoted, type Target } from "./router.ts";

/**
 * Refuses a call that asks for something without a price: a service tier, a hosted tool, sound. It would be free, or
 * charged like something else. Throws 422 with the configuration's key to set.
 */
export function requirePrices(
  { price, priceOf, model, route }: Target,
  { terms = {}, toolUnits = {}, ownPrices = [], others = [] }: RequestedExtras,
): void {
  if (coversEverything(price)) return;
  const id = `${route.prefix}/${model}`;
  const { serviceTier, inferenceGeo } = terms;
  if (serviceTier !== undefined && !price.serviceTiers.has(serviceTier)) {
    throw unpriced("service_tier", `the service tier ${quoted(serviceTier)}`, [id, "service_tiers", serviceTier]);
  }
  if (inferenceGeo !== undefined && !price.inferenceGeos.has(inferenceGeo)) {
    throw unpriced("inference_geo", `the place ${quoted(inferenceGeo)}`, [id, "inference_geos", inferenceGeo]);
  }
  const tools = keysOf(toolUnits);
  for (const bucket of [...tools, ...ownPrices]) {
    if (!price.priced.has(bucket))
      throw unpriced(tools.includes(bucket) ? "tools" : "modalities", bucketName(bucket), [id, keyOfBucket[bucket]]);
  }
  for (const { model: other } of others) {
    if (priceOf(other) === undefined)
      throw unpriced("tools", `the model ${quoted(other)}`, [`${route.prefix}/${other}`]);
  }
}

/** Whether a price covers whatever a call asks for: that of a free model, or a price per call. */
export function coversEverything({ rates, priced, source }: Target["price"]): boolean {
  const isFree = priced.has("input") && priced.has("output") && rates.input.highest + rates.output.highest === 0n;
  return isFree || priced.has("requests") || source === "unpriced";
}

const bucketName = (bucket: UsageBucket): string => `the unit ${keyOfBucket[bucket]}`;

function unpriced(param: string, what: string, key: readonly [string, ...string[]]): GatewayError {
  const [id, ...members] = key;
  const path = [`pricing.models.${JSON.stringify(id)}`, ...members].join(".");
  return new GatewayError(
    "validation_failed",
    `${param}: there is no price for ${what}, and unpriced calls are refused. The operator must set ${path} in the configuration.`,
    { param },
  );
}
