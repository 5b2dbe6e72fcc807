import type { FormDeclaration, ParsedBody, ReceivedBody } from "../../bodies/index.ts";
import type { StoredAnswer } from "../../ledger/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import type { PaidAnswer, WorkPlan, WorkPlanner } from "./paid-request.ts";
import type { RunningWork, WorkResult } from "./running-work.ts";

/** How one request is performed. */
export interface WayOfWork<Body, Plan extends WorkPlan, Target = never> extends WorkPlanner<Body, Plan, Target> {
  /** The scope of a retry key, besides the body. */
  readonly operation: string;
  /** An SDK's own name for the header of the retry key. */
  readonly retryKeyAlias?: string;
  /** The form that the request contains; undefined if it contains JSON. */
  readonly form: FormDeclaration<Body> | undefined;
  /**
   * Reads and validates JSON. Returns a promise only if it waits. `address`: puts the model that the request's address names into
   * the bytes; a large body has its turn first, as for everything that reads it.
   */
  parse(
    bytes: Uint8Array,
    address: ((bytes: Uint8Array) => Uint8Array) | undefined,
  ): ParsedBody<Body> | Promise<ParsedBody<Body>>;
  /**
   * The plan of the next target, if the refusal of the first one's hold permits another one; undefined if there is none.
   * Absent for work with one target.
   */
  instead?(
    refusal: unknown,
    received: ReceivedBody<Body>,
    refused: { plan: Plan; memory: MemoryShare },
  ): Promise<Plan | undefined>;
  /**
   * Performs the request in place of this way, if its plan has thrown `thrown` for that: nothing is held yet. Undefined for a failure. May
   * throw.
   */
  passOn?(thrown: unknown): Promise<PaidAnswer> | undefined;
  /** Called when the work has ended here, with its result if it has one: also if a job goes on with it, or it never began. */
  ended?(result: WorkResult | undefined): void;
  /**
   * Whether the job of an answer that was stored ahead is there; completes one that is there in part, with the plan if there
   * is one. Without its job, the answer's key is in use while its work runs, and free from then on.
   */
  hasJob?(answer: StoredAnswer, plan: Plan | undefined): Promise<boolean>;
  /**
   * Performs the work, and ends it: at once, later (a stream), or by parking it. What it throws ends the work as
   * `RunningWork.fail` does.
   */
  run(running: RunningWork<Plan, Target>, plan: Plan): Promise<PaidAnswer>;
}
