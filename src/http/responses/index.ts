import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import { compactResponseRoute } from "./compact.ts";
import { countResponseTokensRoute } from "./count-tokens.ts";
import { createResponseRoute } from "./create-response.ts";
import { responsesSocketRoute } from "./responses-sockets.ts";
import { deleteResponseRoute, getResponseRoute, listInputItemsRoute } from "./stored-responses.ts";

export const responsesFeature: Feature = {
  routes: [
    createResponseRoute,
    countResponseTokensRoute,
    compactResponseRoute,
    getResponseRoute,
    deleteResponseRoute,
    listInputItemsRoute,
    responsesSocketRoute,
  ],
  start: ({ responses, objectOwners, clock, logger }) =>
    startDeleting(() => Promise.all([responses.deleteExpired(clock()), objectOwners.deleteExpired(clock())]), logger),
};
