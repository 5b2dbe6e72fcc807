import { type FilesWire, fileRoutes } from "../files/routes.ts";
import type { ErrorAnswer, ProviderErrors, Route } from "../types.ts";

/** The files of a provider that has them for batches alone. */
export function batchFileRoutes(basePath: string, errors: ProviderErrors): readonly Route[] {
  const missing = (): ErrorAnswer => errors.forProblem({ kind: "missing", field: "file" });
  const wire: FilesWire = {
    errors,
    hasContent: true,
    listObject: "list",
    purposes: ["batch"],
    limitDefault: 100,
    limitMax: 1_000,
    notFound: () => errors.forStatus(404),
    formRefusal: missing,
    create(fields) {
      const file = fields.file("file");
      if (file === undefined) return { kind: "missing", field: "file" };
      const { filename, bytes, contentType } = file;
      return {
        body: { filename, bytes: bytes.length },
        bytes,
        contentType: contentType ?? "application/octet-stream",
      };
    },
  };
  return fileRoutes(basePath, wire);
}
