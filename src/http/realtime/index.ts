import type { Feature } from "../feature.ts";
import { startDeleting } from "../delete-regularly.ts";
import { createClientSecretRoute } from "./client-secrets.ts";
import { realtimeCallsRoute, realtimeRoute } from "./sessions.ts";

export const realtimeFeature: Feature = {
  routes: [createClientSecretRoute, realtimeRoute, realtimeCallsRoute],
  start: ({ realtime, sessionDirectory, logger }) =>
    startDeleting(() => Promise.all([realtime.deleteExpired(), sessionDirectory.deleteLost()]), logger),
};
