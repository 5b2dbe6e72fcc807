import { startDeleting } from "../delete-regularly.ts";
import type { Feature } from "../feature.ts";
import {
  createConversationItemsRoute,
  createConversationRoute,
  deleteConversationItemRoute,
  deleteConversationRoute,
  getConversationItemRoute,
  getConversationRoute,
  listConversationItemsRoute,
  updateConversationRoute,
} from "./routes.ts";

export const conversationsFeature: Feature = {
  routes: [
    createConversationRoute,
    getConversationRoute,
    updateConversationRoute,
    deleteConversationRoute,
    listConversationItemsRoute,
    createConversationItemsRoute,
    getConversationItemRoute,
    deleteConversationItemRoute,
  ],
  start: ({ conversations, logger }) => startDeleting(() => conversations.deleteExpired(), logger),
};
