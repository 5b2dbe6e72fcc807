import type { SizeOf } from "../bodies/index.ts";
import type { WorkBound, Dialect, GatewayError, ModelFacts, ObjectReader, RequestFeature } from "../core/index.ts";
import type { ChargedUsage, ReadUsage, StreamObserver } from "../streaming/index.ts";

/** One format of text generation. */
export interface TextCodec<Body> {
  /** Fields that are only measured, so their strings need not be decoded. */
  measured: readonly string[];
  /** Bytes of text in a whole answer, for an estimate if it reports no usage. */
  outputBytes(answer: string): number;
  dialect: Dialect;
  /** The stored objects in its bodies and answers. */
  objects: ObjectReader<Body>;
  /** `sizeOf` measures a string within a measured field. */
  bound(body: Body, sizeOf: SizeOf): WorkBound;
  /** Whether something in a body of this dialect does not fit its model, and only rewriting the body can change it. */
  misfits(body: Body, facts: ModelFacts): boolean;
  /** The features that a body asks for and an endpoint may ignore. `origin`: the provider whose endpoint it is. */
  asks(body: Body, origin: string): readonly RequestFeature[];
  /** `body` determines whether the client requested the usage; then it gets `charged` if the upstream sends none. */
  observe(body: Body, readUsage: ReadUsage, charged?: ChargedUsage): StreamObserver;
  /** The maximum size of an event that is passed on in one piece, if the last event may repeat a long answer. */
  eventBytesMax?: number;
  /** The event that informs a client about a broken stream. */
  errorEvent(error: GatewayError, requestId: string): string;
}
