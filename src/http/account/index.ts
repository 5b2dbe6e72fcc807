import type { Feature } from "../feature.ts";
import { alertChannelRoutes } from "./alert-channels.ts";
import { generationRoute } from "./generation.ts";
import { generationsRoute } from "./generations.ts";
import { litellmKeyRoute } from "./litellm-key.ts";
import { usageRoute } from "./usage.ts";
import { userInfoRoute } from "./user-info.ts";
import { webhookSecretRoute } from "./webhook-secret.ts";

export const accountFeature: Feature = {
  routes: [
    userInfoRoute,
    usageRoute,
    generationRoute,
    generationsRoute,
    webhookSecretRoute,
    ...alertChannelRoutes,
    litellmKeyRoute,
  ],
};
