/** A call that its upstream does as a line of a batch: the requests for the batch are not the call's. */
import type { GatewayError } from "../../core/index.ts";
import type { ParkedWork } from "../parked-work.ts";

/** The request of one line, as the upstream gets it. */
export interface BatchedRequest {
  /** The upstream's name of the model. */
  model: string;
  /** The path of the operation below the provider's base URL. */
  path: string;
  /** JSON. */
  body: string;
}

/** A call that is held and has not been sent. */
export interface HeldCall {
  request: BatchedRequest;
  /** Leaves its work to the job of the batch: see `Work.handOver`. */
  handOver: (until: number, save: (parked: ParkedWork) => Promise<void>) => Promise<void>;
}

/** The upstream's answer to one line. */
export interface BatchedReply {
  status: number;
  /** JSON. */
  text: string;
  /** The id of the key that sent the batch. */
  keyId: string;
}

/**
 * The two halves of such a call: it is held at the price of batches and left to the batch's job; much later the answer ends its
 * work.
 */
export type BatchedCall =
  | {
      kind: "hold";
      /** Refuses a call that no batch of its upstream can contain. */
      otherwise: GatewayError;
      /** Rejects if the work cannot be left: it is then released. */
      leave: (call: HeldCall) => Promise<void>;
    }
  | { kind: "answer"; work: ParkedWork; reply: BatchedReply };
