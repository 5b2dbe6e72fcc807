export type {
  CallInput,
  FailureRules,
  ListedModel,
  Provider,
  RawAnswer,
  ReshapedBody,
  ReshapedCall,
  UpstreamOperation,
} from "./provider.ts";
export { createProvider, type ProviderChoice, upstreamName } from "./registry.ts";
export { hasSign, readFault } from "./shared/failures.ts";
