import type { Feature } from "../feature.ts";
import { imageEditsRoute } from "./edits.ts";
import { imageGenerationsRoute } from "./generations.ts";

export const imagesFeature: Feature = { routes: [imageGenerationsRoute, imageEditsRoute] };
