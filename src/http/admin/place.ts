/** Whose a call, a session of calls or a job is, in answers. */
import { z } from "@hono/zod-openapi";
import { ownerPlace } from "../../accounts/index.ts";
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

/** Whose a job is, by the owner of its records. */
export const ownerFields = {
  user_id: z.string().nullable().describe("Null of a project's."),
  project_id: z.string().nullable().describe("Null of a user's."),
};

export function ownerJson(owner: string): z.input<z.ZodObject<typeof ownerFields>> {
  const { kind, id } = ownerPlace(owner);
  return { user_id: kind === "user" ? id : null, project_id: kind === "project" ? id : null };
}
