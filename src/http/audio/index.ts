import type { Feature } from "../feature.ts";
import { speechRoute } from "./speech.ts";
import { transcriptionsRoute } from "./transcriptions.ts";
import { translationsRoute } from "./translations.ts";

export const audioFeature: Feature = { routes: [speechRoute, transcriptionsRoute, translationsRoute] };
