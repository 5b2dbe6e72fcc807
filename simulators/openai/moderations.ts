import { moderationRoute } from "../shared/moderations.ts";
import type { Route } from "../shared/types.ts";
import { openaiErrors } from "./errors.ts";

const categories = [
  "hate",
  "hate/threatening",
  "harassment",
  "harassment/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/intent",
  "self-harm/instructions",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
];

/** Moderations of OpenAI: texts and images, without usage, because they are free. */
export const moderationRoutes: readonly Route[] = [
  moderationRoute({
    path: "/openai/v1/moderations",
    errors: openaiErrors,
    categories,
    takesParts: true,
    flags: true,
    namesInputTypes: true,
    id: ({ identity }) => `modr-${identity.hex("moderation", 32)}`,
  }),
];
