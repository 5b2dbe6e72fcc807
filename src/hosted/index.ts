export type { HostedSetting, HostedToolsOptions } from "./hosted-options.ts";
export type { ImageModel } from "./requests/image-model.ts";
export type { ConfiguredTools } from "./requests/configured-tools.ts";
export { HostedTools } from "./hosted-tools.ts";
export type { OwnTools } from "./running/own-tools.ts";
export { SealedResults } from "./running/sealed-results.ts";
export { runsAllItself } from "./requests/native-tools.ts";
