import { GatewayError, keyOfBucket, keysOf, priceUnits, type UsageBucket } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import type { RequestedExtras } from "../providers/index.ts";
import { quoted, requireUse, type Target } from "./router.ts";

/**
 * Refuses a call that asks for something without a price: a service tier, a hosted tool, sound. It would be free, or
 * charged like something else. Throws 422 with the configuration's key to set.
 */
export function requirePrices(target: Target, extras: RequestedExtras): void {
  const { price, priceOf, route } = target;
  const { others = [], helpers = [], alternatives } = extras;
  for (const { model: helper } of helpers) requireModelPrice(target, helper, "tools");
  for (const { model: other, terms = extras.terms } of alternatives?.models ?? []) {
    const otherPrice = requireModelPrice(target, other, "model");
    requireUnitPrices({ price: otherPrice, model: other, route }, { ...extras, ...(terms && { terms }) });
  }
  if (coversEverything(price)) return;
  requireUnitPrices(target, extras);
  for (const { model: other } of others) if (priceOf(other) === undefined) throw unpricedModel(route, other, "tools");
}

/** The models besides its own that a request names, and the choice that it leaves to the provider. */
export function requireModels(
  { route }: Target,
  principal: Principal,
  { others = [], helpers = [], alternatives }: RequestedExtras,
): void {
  if (principal.models === undefined && (route.internal?.size ?? 0) === 0) return;
  const { chosenBy, models = [] } = alternatives ?? {};
  if (chosenBy !== undefined && principal.models !== undefined) {
    const message = `${chosenBy}: leaves the choice of the model to the provider, and this token may only use some of its models. Name the models.`;
    throw new GatewayError("validation_failed", message, { param: chosenBy });
  }
  for (const { model } of [...others, ...helpers, ...models]) requireUse(principal, route, model);
}

type Priced = Pick<Target, "price" | "model" | "route">;

function requireUnitPrices(
  { price, model, route }: Priced,
  { terms = {}, toolUnits = {}, fixedUnits = {}, ownPrices = [] }: RequestedExtras,
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
  const tool = keysOf({ ...toolUnits, ...fixedUnits }).find((bucket) => !isToolPriced(price, bucket));
  if (tool !== undefined) throw unpriced("tools", bucketName(tool), [id, keyOfBucket[tool]]);
  const modality = ownPrices.find((bucket) => !price.priced.has(bucket));
  if (modality !== undefined) {
    const { param, lack } = sounds[modality] ?? { param: "modalities", lack: "" };
    throw unpriced(param, `${lack}${bucketName(modality)}`, [id, keyOfBucket[modality]]);
  }
}

/** The members that ask for sound, which most models neither take nor make: then it has no price. */
const sounds: Partial<Record<UsageBucket, { param: string; lack: string }>> = {
  inputAudio: { param: "messages", lack: "audio, which this model does not take: " },
  outputAudio: { param: "modalities", lack: "audio, which this model does not make: " },
};

function requireModelPrice({ priceOf, route }: Target, model: string, param: string): ModelPrice {
  const price = priceOf(model);
  if (price === undefined) throw unpricedModel(route, model, param);
  return price;
}

const unpricedModel = ({ prefix }: Target["route"], model: string, param: string): GatewayError =>
  unpriced(param, `the model ${quoted(model)}`, [`${prefix}/${model}`]);

/** Whether a price covers whatever a call asks for: that of a free model, or a price per call. */
export function coversEverything({ rates, priced, source }: Target["price"]): boolean {
  const isFree = priced.has("input") && priced.has("output") && rates.input.highest + rates.output.highest === 0n;
  return isFree || priced.has("requests") || source === "unpriced";
}

/** Whether a unit of a hosted tool has a price, its own or that of a unit which replaces it. */
export function isToolPriced({ priced }: Target["price"], bucket: UsageBucket): boolean {
  const key = keyOfBucket[bucket];
  return [key, ...(priceUnits[key].fallbacks ?? [])].some((each) => priced.has(priceUnits[each].bucket));
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
