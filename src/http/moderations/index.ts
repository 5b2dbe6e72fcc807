import type { Feature } from "../feature.ts";
import { moderationsRoute } from "./moderations.ts";

export const moderationsFeature: Feature = { routes: [moderationsRoute] };
