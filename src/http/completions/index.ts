import type { Feature } from "../feature.ts";
import { completionsRoute } from "./completions.ts";

export const completionsFeature: Feature = { routes: [completionsRoute] };
