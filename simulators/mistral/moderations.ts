import { moderationRoute } from "../shared/moderations.ts";
import type { Route } from "../shared/types.ts";
import { mistralErrors } from "./errors.ts";

const categories = [
  "sexual",
  "hate_and_discrimination",
  "violence_and_threats",
  "dangerous_and_criminal_content",
  "selfharm",
  "health",
  "financial",
  "law",
  "pii",
];

/** Moderations of Mistral: texts alone, categories of its own, and no verdict over all of them. */
export const moderationRoutes: readonly Route[] = [
  moderationRoute({
    path: "/mistral/v1/moderations",
    errors: mistralErrors,
    categories,
    takesParts: false,
    flags: false,
    namesInputTypes: false,
    id: ({ identity }) => identity.hex("moderation", 32),
  }),
];
