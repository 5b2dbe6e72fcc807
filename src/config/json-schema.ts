import { z } from "zod";
import { isFromText, numberAsText } from "./values/from-text.ts";
import { configSchema } from "./schema.ts";

/** The JSON Schema of `tollgate.yaml`, for editors. The repository contains it as `tollgate.schema.json`. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
    override: ({ zodSchema, jsonSchema }) => {
      if (isFromText(zodSchema)) alsoAsText(jsonSchema);
    },
  });
  return { $id: "tollgate.schema.json", title: "Tollgate configuration", ...schema };
}

/** Widens a number's schema, in place, as required of zod's `override`. */
function alsoAsText(schema: z.core.JSONSchema.BaseSchema): void {
  const number = { ...schema };
  for (const key of Object.keys(schema)) delete schema[key];
  schema.anyOf = [...(number.anyOf ?? [number]), { ...numberAsText }];
}
