/** What admin requests have in common: bodies, reasons, dry runs and versions. */
import { z } from "@hono/zod-openapi";
import type { AccountName, ActContext, LimitChanges, PolicyChanges } from "../../accounts/index.ts";
import { parseBody, readBody } from "../../bodies/index.ts";
import { GatewayError, type Nano, parseCredits, roles, TAG_KEY, textOfHeader } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import type { RouteCall } from "../route.ts";
import type { AdminNeeds } from "./admin-route.ts";

/** Bytes of a body about one thing. */
const BODY_BYTES_MAX = 256 * 1024;

type BodyNeeds = Pick<AdminNeeds, "body" | "memory">;

/** The request's body by its schema. Throws a 422 `GatewayError` that names the field. */
export function bodyOf<Body>(
  call: Pick<RouteCall, "request">,
  needs: BodyNeeds,
  schema: z.ZodType<Body>,
): Promise<Body> {
  const read = (bytes: Uint8Array): Body => parseBody(bytes.length === 0 ? Buffer.from("{}") : bytes, schema, []).body;
  return readBodyOf(call, needs, { bytesMax: BODY_BYTES_MAX, read });
}

interface BodyReader<Body> {
  bytesMax: number;
  read: (bytes: Uint8Array) => Body;
}

/** The request's body, read while its memory is accounted for. */
export async function readBodyOf<Body>(
  { request }: Pick<RouteCall, "request">,
  { body: bounds, memory }: BodyNeeds,
  { bytesMax, read }: BodyReader<Body>,
): Promise<Body> {
  const share = memory.share();
  try {
    return read(await readBody(request, { ...bounds, bytesMax: Math.min(bounds.bytesMax, bytesMax) }, share));
  } finally {
    share.free();
  }
}

const REASON_CHARACTERS_MAX = 500;

/** Text that every storage takes and that stays on one line of a list, without spaces at its ends. */
const PRINTABLE = /^[!-~\u00a1-\uffff](?:[ -~\u00a1-\uffff]*[!-~\u00a1-\uffff])?$/;

/**
 * Text of at most so many characters. Half of a surrogate pair is refused: the storages keep another character for it, which the
 * hash of the audit log would not fit.
 */
export function printable(charactersMax: number) {
  return z
    .string()
    .max(charactersMax)
    .regex(PRINTABLE)
    .refine((text) => text.isWellFormed(), "must be well-formed Unicode");
}

export const reason = printable(REASON_CHARACTERS_MAX)
  .nullish()
  .describe("Why, for the audit log; `x-tollgate-reason` is the same.");

export const actQuery = z.object({
  dry_run: z.enum(["true", "false"]).optional().describe("`true` changes nothing, and answers what it would be."),
});

export const actHeaders = z.object({ "x-tollgate-reason": z.string().optional() });

export const changeHeaders = actHeaders.extend({
  "if-match": z.string().optional().describe("The `etag` of an earlier answer: 412 if it was changed since."),
});

/** The context of an act, of its body, query and headers. */
export function contextOf({ request }: RouteCall, body: { reason?: string | null | undefined } = {}): ActContext {
  const { dry_run: dryRun } = parseQuery(request, actQuery);
  const header = textOfHeader(request.headers.get("x-tollgate-reason") ?? "").trim();
  // An empty header is none.
  const text = body.reason ?? (header === "" ? undefined : header);
  if (text !== undefined && (text.length > REASON_CHARACTERS_MAX || !PRINTABLE.test(text)))
    throw new GatewayError("validation_failed", `reason: 1 to ${REASON_CHARACTERS_MAX} characters`, {
      param: "reason",
    });
  return { reason: text, dryRun: dryRun === "true", ifVersion: versionIn(request.headers.get("if-match")) };
}

/** An entity tag of these routes is the version in quotes; another text matches no version. */
function versionIn(header: string | null): number | undefined {
  if (header === null || header.trim() === "*") return undefined;
  const version = /^(?:W\/)?"(\d{1,15})"$/.exec(header.trim())?.[1];
  return version === undefined ? -1 : Number(version);
}

export function taggedJson(answer: object, version: number): Response {
  return Response.json(answer, { headers: { etag: `"${version}"` } });
}

const CREDITS_MAX = 1_000_000_000;

export const name = z
  .string()
  .regex(/^[\w.@+-]{1,128}$/)
  .describe("Letters, digits and . _ @ + -");
export const reference = z
  .string()
  .max(128)
  .regex(/^[!-~]+$/)
  .describe("An id or a name.");

/** The id or name in a path. Throws 404 for text that is neither. */
export function idOf({ pathParameter }: RouteCall): string {
  const id = pathParameter("id");
  if (reference.safeParse(id).success) return id;
  throw new GatewayError("account_not_found", "There is none with this id or name.");
}
/** The one owner that is named, or none. Throws 422 for several. */
export function ownerIn<Kind extends AccountName["kind"]>(
  named: Partial<Record<Kind, string | undefined>>,
): { kind: Kind; name: string } | undefined {
  const kinds = (Object.keys(named) as Kind[]).filter((kind) => named[kind] !== undefined);
  const [kind] = kinds;
  if (kinds.length > 1)
    throw new GatewayError("validation_failed", `${kinds.join(", ")}: name one of them`, { param: kinds[1] ?? "" });
  const idOrName = kind && named[kind];
  return kind === undefined || idOrName === undefined ? undefined : { kind, name: idOrName };
}

export const tagKey = z.string().regex(TAG_KEY).describe("Letters, digits and . _ -");

export const role = z.enum(roles);
const period = z.enum(["daily", "monthly"]).nullable();
export const amount = z.number().min(-CREDITS_MAX).max(CREDITS_MAX).describe("Credits.");
export const budget = z.number().min(0).max(CREDITS_MAX).nullable().describe("Credits; null for no limit.");
export const creditsAmount = z.number().max(CREDITS_MAX).describe("Credits.");
const LIMIT_MAX = 999_999_999;
const limit = z.int().min(1).max(LIMIT_MAX).nullable();

/** Credits as nano-credits, rounded to them. */
export function nanoOf(credits: number): Nano {
  return parseCredits(credits.toFixed(9));
}

function nanoOrNull(credits: number | null | undefined): Nano | null | undefined {
  return credits === null || credits === undefined ? credits : nanoOf(credits);
}

export const globs = z
  .array(z.string().regex(/^[!-+\x2d-~]{1,256}$/))
  .min(1)
  .max(200);

/** The policy of tokens in bodies; null takes a limit away. */
export const policySettings = {
  models: globs.nullish().describe("Globs of the model ids that it may use."),
  tools: globs.nullish().describe("Globs of the tools that it may call; those with ! it may not."),
  rpm: limit.optional(),
  tpm: limit.optional(),
  concurrency: limit.optional(),
  expires_at: z.iso.datetime({ offset: true }).nullish(),
};

/** The same in answers. */
export const policyFields = {
  models: z.array(z.string()).nullable(),
  tools: z.array(z.string()).nullable(),
  rpm: z.int().nullable(),
  tpm: z.int().nullable(),
  concurrency: z.int().nullable(),
  expires_at: z.iso.datetime().nullable(),
};

/** Limits of an account, in bodies. */
export const limitSettings = { max_budget: budget.optional(), period: period.optional() };

const limitsBody = z.object({ ...policySettings, ...limitSettings });

/** The changes of a policy and of an account's limits that a body asks for. */
export function limitChangesOf(body: z.output<typeof limitsBody>): PolicyChanges & LimitChanges {
  const { models, tools, rpm, tpm, concurrency, expires_at: end, max_budget: maxBudget, period: restarts } = body;
  const expiresAt = end == null ? end : Date.parse(end);
  return { models, tools, rpm, tpm, concurrency, expiresAt, maxBudget: nanoOrNull(maxBudget), period: restarts };
}
