import { z } from "@hono/zod-openapi";
import { applyPeople } from "../../../accounts/index.ts";
import { accountsOf, adminRoute } from "../admin-route.ts";
import { requireFreshSignIn } from "../fresh-sign-in.ts";
import { peopleBody, readPeople } from "./people-file.ts";
import { actHeaders, actQuery, contextOf, readBodyOf } from "../requests.ts";

const FILE_BYTES_MAX = 2 * 1024 * 1024;

const members = z.record(z.string(), z.unknown());

const answer = z
  .object({
    object: z.literal("people"),
    created: z.array(z.string()).describe("Names."),
    changed: z
      .array(z.object({ name: z.string(), before: members, after: members }))
      .describe("Their changed members."),
    moved: z
      .array(z.object({ name: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
      .describe("From and to the organisations with these ids."),
    unchanged: z.array(z.string()),
    tokens: z.array(
      z.object({
        name: z.string(),
        token_id: z.string().nullable(),
        token: z.string().nullable().describe("Shown only now; null of a dry run."),
      }),
    ),
  })
  .meta({ id: "AdminPeople" });

export const peopleRoute = adminRoute(
  {
    route: "put /admin/v1/people",
    operationId: "applyPeople",
    summary: "Create and change many users by name, all or none; who is not named stays.",
    query: actQuery,
    requestHeaders: actHeaders,
    body: peopleBody,
    textBody: "text/csv",
    answer,
    conflict: "Nobody else would be an owner.",
  },
  async (call, needs) => {
    const type = call.request.headers.get("content-type") ?? "";
    const form = /^\s*text\/csv\b/i.test(type) ? "csv" : "json";
    const file = await readBodyOf(call, needs, {
      bytesMax: FILE_BYTES_MAX,
      read: (bytes) => readPeople(bytes, form),
    });
    const context = contextOf(call, file);
    requireFreshSignIn(call, needs, { act: "put /admin/v1/people", dryRun: context.dryRun });
    const difference = await applyPeople(accountsOf(call, needs), file.people, context);
    return Response.json({ object: "people", ...difference });
  },
);
