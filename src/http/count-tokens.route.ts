import { countTokens, type CountTokensDependencies } from "../calls/index.ts";
import { countTokensContract } from "./count-tokens.contract.ts";
import type { HttpRoute } from "./route.ts";

export function countTokensRoute(deps: CountTokensDependencies): HttpRoute {
  return {
    contract: countTokensContract,
    surface: "anthropic",
    access: "token",
    handle: (call) => countTokens(deps, call),
  };
}
