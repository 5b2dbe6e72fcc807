import type { Expectation } from "../load/protocol.ts";

/** One kind of call that every proxy is measured with. */
export interface BenchCase {
  /** For `--only`. */
  name: string;
  title: string;
  /** The JSON body. The same bytes for every proxy but for the name of the model. */
  body(model: string): string;
  expectation: Expectation;
}
