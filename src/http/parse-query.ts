import type { z } from "zod";
import { GatewayError } from "../core/index.ts";

/** Parses a request's query by its schema. Throws a 422 `GatewayError` that names the parameter. */
export function parseQuery<Query>(request: Pick<Request, "url">, schema: z.ZodType<Query>): Query {
  const { searchParams } = new URL(request.url);
  const twice = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1);
  if (twice !== undefined) throw invalid(twice.slice(0, 80), "is given more than once");
  const result = schema.safeParse(Object.fromEntries(searchParams));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(issue?.path.join(".") ?? "", issue?.message ?? "not valid");
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${reason}`, { param });
}
