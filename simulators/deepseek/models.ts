import { jsonAnswer, type Route } from "../shared/types.ts";

const models = ["deepseek-v4-flash", "deepseek-v4-pro", "deepseek-chat", "deepseek-reasoner"].map((id) => ({
  id,
  object: "model",
  owned_by: "deepseek",
}));

/** The former name of a model that thinks on demand alone. */
export const thinksOnDemand = /^deepseek-chat/;

/** Models listing: no `created`. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/deepseek/v1/models", handle: () => jsonAnswer({ object: "list", data: models }) },
];
