import type { Feature } from "../feature.ts";
import { createResponseRoute } from "./create-response.ts";
import { deleteExpired } from "./delete-expired.ts";
import { deleteResponseRoute, getResponseRoute, listInputItemsRoute } from "./stored-responses.ts";

export const responsesFeature: Feature = {
  routes: [createResponseRoute, getResponseRoute, deleteResponseRoute, listInputItemsRoute],
  start: deleteExpired,
};
