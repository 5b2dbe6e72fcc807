import type { z } from "zod";
import type { FormDeclaration } from "../bodies/index.ts";
import type { JsonObject, ModelOperation, Surface } from "../core/index.ts";
import type { TextCodec } from "../dialects/index.ts";
import type { MediaCodec } from "../media/index.ts";
import type { BackgroundResponses, ResponseStoreService } from "../objects/index.ts";

/** The fields of every chargeable body. */
export interface ChargeableBody {
  model: string;
  stream?: boolean | null | undefined;
  /** Fields that only the upstream knows. */
  [member: string]: unknown;
}

/**
 * The declaration of a chargeable route, with everything the pipeline needs. The bound of its cost, the observer of its
 * answer and the reader of its usage come with the codec and the provider's operation, so a route cannot omit them.
 */
export interface ChargeableRoute<Body extends ChargeableBody> {
  /** The route's operation, and alternatives for upstreams without it, in order of preference. */
  operations: readonly [ModelOperation, ...ModelOperation[]];
  surface: Surface;
  /** The schema of a JSON body; absent if the route accepts only forms. */
  body?: z.ZodType<Body>;
  /** Members of the body that stand in the path: of its own, the body has none with these names. */
  members?: JsonObject;
  /** The schema of a form with files; absent if the route accepts only JSON. */
  form?: FormDeclaration<Body>;
  /** Reads the route's bodies and answers. */
  codec: TextCodec<Body> | MediaCodec<Body>;
  /** Stores the answers, so that later calls may refer to them. */
  responseStore?: ResponseStoreService;
  /** Runs answers after their requests; without it, none may be asked for. */
  background?: BackgroundResponses;
}
