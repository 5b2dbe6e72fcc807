import type { ModelListing } from "../provider.ts";
import { openaiModelList } from "../shared/model-list.ts";
import type { Preset } from "./presets.ts";

export function modelsOf({ modelsPath }: Preset): ModelListing {
  return modelsPath === undefined ? { from: "catalog", models: [] } : openaiModelList(modelsPath);
}
