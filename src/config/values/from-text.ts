import { z } from "zod";

const NUMBER = /^\d+(\.\d+)?$/;

/** For editors: a number in quotes, or a text with a variable, whose value is only known at startup. */
export const numberAsText = { type: "string", pattern: `${NUMBER.source}|\\$\\{[A-Za-z_]` } as const;

const readNumber = (value: unknown): unknown =>
  typeof value === "string" && NUMBER.test(value) ? Number(value) : value;

/** Accepts decimal numbers also as texts, because the value of a variable is always a text. */
export function fromText<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(readNumber, schema);
}

/** Whether a schema was created by `fromText`. No other schema here starts with a transform. */
export function isFromText(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodPipe && schema.def.in instanceof z.ZodTransform;
}
