import type { ScannedPart } from "./form-scanner.ts";
import type { Spool } from "./spool.ts";

/** One part of a form. */
export interface FormPart {
  readonly name: string;
  /** Where there is one, the part is a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** Bytes of its content. */
  readonly size: number;
  /** What a part that is no file says. */
  readonly text: string | undefined;
}

/** A part with its place in the body. */
export interface PlacedPart {
  readonly part: FormPart;
  readonly scanned: ScannedPart;
}

/** Where a form came from. */
export interface FormSource {
  readonly contentType: string;
  readonly boundary: string;
  readonly spool: Spool;
  readonly placed: readonly PlacedPart[];
}
