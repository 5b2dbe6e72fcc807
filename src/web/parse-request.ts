import type { z } from "zod";
import { GatewayError, type JsonObject } from "../core/index.ts";

/** Checks a body. Throws 422 `validation_failed` that names the first member at fault. */
export function parseRequest<Request>(schema: z.ZodType<Request>, body: JsonObject): Request {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = firstIssue(parsed.error.issues);
  const param = issue.path.join(".");
  throw new GatewayError("validation_failed", param === "" ? issue.message : `${param}: ${issue.message}`, { param });
}

interface Issue {
  path: readonly PropertyKey[];
  message: string;
}

/** The most telling issue: of a union the one of the option that fits best, of unknown members their name. */
function firstIssue(issues: readonly z.core.$ZodIssue[], base: readonly PropertyKey[] = []): Issue {
  const [issue] = issues;
  if (issue === undefined) return { path: base, message: "Invalid" };
  const path = [...base, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return { path: [...path, issue.keys[0] ?? ""], message: "this member is not supported" };
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const nested = issue.errors.filter((option) => option.length > 0).map((option) => firstIssue(option, path));
    const [deepest] = nested.toSorted((a, b) => b.path.length - a.path.length || rank(b) - rank(a));
    return deepest ?? { path, message: issue.message };
  }
  // Says why a member may not have this name.
  if (issue.code === "invalid_key" && issue.issues[0] !== undefined) return { path, message: issue.issues[0].message };
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined"))
    return { path, message: "Required" };
  return { path, message: issue.message };
}

/** A message of our own is more helpful than a list of expected values. */
function rank({ message }: Issue): number {
  return message.startsWith("Invalid") ? 0 : 1;
}
