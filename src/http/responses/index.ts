import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import { compactResponseRoute } from "./compact.ts";
import { countResponseTokensRoute } from "./count-tokens.ts";
import { createResponseRoute } from "./create-response.ts";
import { responsesSocketRoute } from "./responses-sockets.ts";
import { cancelResponseRoute, deleteResponseRoute, getResponseRoute, listInputItemsRoute } from "./stored-responses.ts";

export const responsesFeature: Feature = {
  routes: [
    createResponseRoute,
    countResponseTokensRoute,
    compactResponseRoute,
    getResponseRoute,
    deleteResponseRoute,
    cancelResponseRoute,
    listInputItemsRoute,
    responsesSocketRoute,
  ],
  start(services) {
    const { responses, objectOwners, keptThoughts, background, clock, logger } = services;
    const deleteExpired = (): Promise<unknown> =>
      Promise.all([
        responses.deleteExpired(clock()),
        objectOwners.deleteExpired(clock()),
        keptThoughts.deleteExpired(),
        background.deleteExpired(),
      ]);
    const deleting = startDeleting(deleteExpired, logger);
    return {
      get active() {
        return background.active;
      },
      abortAll: () => background.abortAll(),
      retire: () => deleting.retire?.(),
      stop: () => deleting.stop?.(),
    };
  },
};
