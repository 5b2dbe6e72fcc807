import type { Feature } from "../feature.ts";
import { embeddingsRoute } from "./embeddings.ts";

export const embeddingsFeature: Feature = { routes: [embeddingsRoute] };
