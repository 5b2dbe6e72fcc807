import { z } from "zod";

const NUMBER = /^\d+(\.\d+)?$/;

/** For editors: a number in quotes, or a text with a variable, which only the start can look into. */
export const numberAsText = { type: "string", pattern: `${NUMBER.source}|\\$\\{[A-Za-z_]` } as const;

const readNumber = (value: unknown): unknown =>
  typeof value === "string" && NUMBER.test(value) ? Number(value) : value;

/** Lets a text that is a decimal number stand for it: what a variable holds is always a text. */
export function fromText<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(readNumber, schema);
}

/** Whether a schema was made by `fromText`, the only schemas here that start with a transform. */
export function isFromText(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodPipe && schema.def.in instanceof z.ZodTransform;
}
