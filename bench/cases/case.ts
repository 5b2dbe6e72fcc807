import type { Expectation } from "../load/protocol.ts";
import type { UpstreamDialect } from "../upstream/protocol.ts";

/** One request, and its correct answer. */
export interface BenchCall {
  path: string;
  /** The dialect of the upstream, for any caller: it decides on the name of the model. */
  upstream: UpstreamDialect;
  /** The JSON body. The same bytes for every proxy but for the name of the model. */
  body(model: string): string;
  expectation: Expectation;
}

/** One kind of call that proxies are measured with. */
export interface BenchCase extends BenchCall {
  /** For `--only`. */
  name: string;
  title: string;
  /** The request of the direct column, if the upstream does not speak the callers' dialect. */
  direct?: BenchCall;
  /** Ids of the columns that take part; left out for all. */
  proxies?: readonly string[];
}
