import { z } from "zod";
import { configSchema } from "./schema.ts";

/** The JSON Schema of `tollgate.yaml`, for editors. Kept in the repository as `tollgate.schema.json`. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-2020-12" });
  return { $id: "tollgate.schema.json", title: "Tollgate configuration", ...schema };
}
