import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import { cancelBatchRoute, createBatchRoute, getBatchRoute, listBatchesRoute } from "./batches.ts";
import {
  cancelMessageBatchRoute,
  createMessageBatchRoute,
  deleteMessageBatchRoute,
  getMessageBatchRoute,
  listMessageBatchesRoute,
  messageBatchResultsRoute,
} from "./message-batches.ts";

export const batchesFeature: Feature = {
  routes: [
    createBatchRoute,
    listBatchesRoute,
    getBatchRoute,
    cancelBatchRoute,
    createMessageBatchRoute,
    listMessageBatchesRoute,
    getMessageBatchRoute,
    cancelMessageBatchRoute,
    messageBatchResultsRoute,
    deleteMessageBatchRoute,
  ],
  start: ({ batches, logger }) => startDeleting(() => batches.deleteExpired(), logger),
};
