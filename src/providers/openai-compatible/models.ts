import type { ModelListing } from "../provider.ts";
import { documentedModels, openaiModelList } from "../shared/model-list.ts";
import type { Preset } from "./presets.ts";

export function modelsOf({ modelsPath, documented, priceProvider }: Preset): ModelListing {
  if (modelsPath !== undefined) return openaiModelList(modelsPath);
  return { from: "catalog", models: documentedModels(priceProvider ?? "", documented) };
}
