import type { Feature } from "../feature.ts";
import { consolePagesRoute, consoleRoute } from "./console.ts";

export const consoleFeature: Feature = { routes: [consoleRoute, consolePagesRoute] };
