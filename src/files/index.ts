export type { FileCall, OneFileCall } from "./dependencies.ts";
export { FileService } from "./file-service.ts";
