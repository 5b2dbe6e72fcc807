import type { Feature } from "../feature.ts";
import { auditRoute } from "./audit.ts";

export const adminFeature: Feature = { routes: [auditRoute] };
