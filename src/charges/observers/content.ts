import type { WorkOrder } from "../work-order.ts";

/** Takes the bytes of an answer as its client gets them. */
export interface ContentSink {
  add(piece: Uint8Array): void;
}

/** Takes prompts and answers, for operators who want them in traces. */
export interface ContentTaker {
  /** Called with the body of held work. Returns undefined if the content of this work is not wanted. */
  open(order: WorkOrder, body: Uint8Array): ContentSink | undefined;
}
