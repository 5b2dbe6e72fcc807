import { z } from "zod";
import { catalogSchema } from "./schema.ts";

/** The JSON Schema of a price catalog, for editors. The repository contains it as `tollgate.catalog.schema.json`. */
export function catalogJsonSchema(): object {
  const schema = z.toJSONSchema(catalogSchema, { io: "input", target: "draft-2020-12", reused: "ref" });
  return { $id: "tollgate.catalog.schema.json", title: "Tollgate price catalog", ...schema };
}
