import type { Principal } from "../auth/index.ts";
import type { AdmitFree } from "../charges/index.ts";
import type { Clock, JsonObject, Surface } from "../core/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import type { AskDependencies } from "../sending/index.ts";
import type { FileQuota, FileStore, ObjectOwnerStore } from "../objects/index.ts";
import type { Logger } from "../telemetry/index.ts";

interface UploadLimits {
  /** Of the whole form. */
  bytesMax: number;
  arrivalMsMax: number;
}

/** The store of such files, as this folder needs it. */
interface KeptFileService {
  /** Whether an id is one of its own. */
  isOwn(id: string): boolean;
  keep(
    principal: Principal,
    upload: { filename: string; size: number; content: AsyncIterable<Uint8Array>; keepSeconds: number | undefined },
  ): Promise<JsonObject>;
  get(principal: Principal, id: string): Promise<JsonObject>;
  download(principal: Principal, id: string): Promise<Response>;
  remove(principal: Principal, id: string): Promise<JsonObject>;
  list(
    principal: Principal,
    query: { purpose: string | undefined; isAscending: boolean; limit: number; after: string | undefined },
  ): Promise<JsonObject[]>;
}

export interface FileDependencies {
  admitFree: AdmitFree;
  asking: AskDependencies;
  router: Pick<ModelRouter, "routes" | "withPrefix">;
  /** Those that the gateway keeps itself. */
  kept: KeptFileService;
  store: FileStore;
  owners: Pick<ObjectOwnerStore, "find">;
  clock: Clock;
  logger: Logger;
  upload: UploadLimits;
  quota: FileQuota;
}

/** A call about files. */
export interface FileCall {
  requestId: string;
  principal: Principal;
  request: Request;
  /** The provider that the path names; undefined if the request may name one itself. */
  prefix: string | undefined;
  /** The API that the caller uses. */
  surface: Surface;
}

/** A call about one file. */
export interface OneFileCall extends FileCall {
  id: string;
}
