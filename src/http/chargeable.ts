import type { CallPipeline, ChargeableBody, ChargeableRoute } from "../calls/index.ts";
import type { HttpRoute } from "./route.ts";
import type { RouteContract } from "./shared.contract.ts";

/** A route whose calls go through the pipeline: what it declares, and what the pipeline needs to know of it. */
export function chargeable<Body extends ChargeableBody>(contract: RouteContract, route: ChargeableRoute<Body>) {
  return (pipeline: CallPipeline): HttpRoute => ({
    contract,
    surface: route.surface,
    access: "token",
    handle: (call) => pipeline.run(route, call),
  });
}
