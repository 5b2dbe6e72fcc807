import type { z } from "zod";
import { duplicateKey, GatewayError, type JsonMember, limits, scanObject } from "../core/index.ts";

/** A request body in the forms that the pipeline needs: its text, where its members are, and what they say. */
export interface ParsedBody<Body> {
  text: string;
  members: readonly JsonMember[];
  body: Body;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses and checks a JSON body. Throws a 422 `GatewayError` that names the field, or says what is wrong with the JSON. */
export function parseBody<Body>(bytes: Uint8Array, schema: z.ZodType<Body>): ParsedBody<Body> {
  const text = decode(bytes);
  const scan = scanObject(text, limits.jsonDepthMax);
  if ("refused" in scan) {
    throw invalid(
      scan.refused === "too-deep"
        ? `The body nests more than ${limits.jsonDepthMax} levels deep.`
        : "The body must be a JSON object.",
    );
  }
  const value = parseJson(text);
  // Ours would be the last of the two, an upstream's may be the first: one price, another model.
  const twice = duplicateKey(scan.members);
  if (twice !== undefined)
    throw invalid(`The body has the key ${JSON.stringify(twice.slice(0, 80))} twice.`, twice.slice(0, 80));
  return { text, members: scan.members, body: check(value, schema) };
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid("The body is not valid UTF-8.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}

function check<Body>(value: unknown, schema: z.ZodType<Body>): Body {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw invalid(`${path === "" ? "body" : path}: ${issue?.message ?? "not valid"}`, path === "" ? undefined : path);
}

function invalid(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, param === undefined ? {} : { param });
}
