/** Whose a call is, or a session of calls, in answers. */
import { z } from "@hono/zod-openapi";
import type { CallPlace } from "../../spending/index.ts";

export const placeFields = {
  user: z.string().nullable().describe("The name of its user; the id of a deleted one. Null of a project's call."),
  user_id: z.string().nullable(),
  project: z.string().nullable().describe("The project that it belongs to; null of a user's call."),
  project_id: z.string().nullable(),
  organisation: z.string().nullable().describe("The organisation that paid for it; null if none did."),
  organisation_id: z.string().nullable(),
};

export function placeJson({ user, project, organisation }: CallPlace) {
  return {
    user: user?.name ?? null,
    user_id: user?.id ?? null,
    project: project?.name ?? null,
    project_id: project?.id ?? null,
    organisation: organisation?.name ?? null,
    organisation_id: organisation?.id ?? null,
  };
}
