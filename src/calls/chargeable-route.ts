import type { z } from "zod";
import type { Operation, Surface } from "../core/index.ts";
import type { TextCodec } from "../dialects/index.ts";
import type { MediaCodec } from "../media/index.ts";
import type { ResponseStoreService } from "../responses/index.ts";

/** What every chargeable body has. */
export interface ChargeableBody {
  model: string;
  stream?: boolean | null | undefined;
  /** Members that only the upstream knows. */
  [member: string]: unknown;
}

/**
 * A chargeable route, declared: everything the pipeline needs to know of it. How its cost is bound, how its answer is
 * observed and how its usage is read come with the codec and the provider's operation, so that a route cannot leave
 * them out.
 */
export interface ChargeableRoute<Body extends ChargeableBody> {
  /** What it does, and by what else it can be done where an upstream lacks that, in this order. */
  operations: readonly [Operation, ...Operation[]];
  surface: Surface;
  /** A JSON body; left out where only forms are taken. */
  body?: z.ZodType<Body>;
  /** A form with files; left out where only JSON is taken. */
  form?: FormDeclaration<Body>;
  /** How its bodies and answers are read. */
  codec: TextCodec<Body> | MediaCodec<Body>;
  /** Keeps the answers, so that later calls may refer to them. */
  keeper?: ResponseStoreService;
}

/** What a route's multipart/form-data body must be. */
export interface FormDeclaration<Body> {
  /** Of its fields: a text each, or a list of texts where there are several of a name. */
  body: z.ZodType<Body>;
  /** The file without which there is no call. */
  file: string;
  /** Whether its files are sound, whose length is to be measured. */
  sound: boolean;
}
