import type { WorkObserver } from "../charges/index.ts";
import type { AccountLabels } from "./account-counts.ts";
import { CallMetrics } from "./call-metrics.ts";
import type { MetricFamily } from "./family.ts";
import { Gauges, type GaugeSources } from "./gauges.ts";
import { Histogram, histogramFamily } from "./histogram.ts";
import { litellmFamilies } from "./litellm-names.ts";

const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Whose names there are: those of LiteLLM come beside the gateway's own. */
type MetricNames = "tollgate" | "litellm";

/** The metrics of one process: counts on the path of a call are plain numbers, and written when they are asked for. */
export class GatewayMetrics {
  readonly #calls: CallMetrics;
  readonly #commits = new Histogram(COMMIT_SECONDS);
  readonly #version: string;
  readonly #names: MetricNames;
  #gauges: Gauges | undefined;

  constructor(
    version: string,
    options: { accounts?: AccountLabels | undefined; names?: MetricNames | undefined } = {},
  ) {
    this.#calls = new CallMetrics(options);
    this.#names = options.names ?? "tollgate";
    this.#version = version;
  }

  /** Counts paid work. */
  get observer(): WorkObserver {
    return this.#calls;
  }

  readonly onCommit = (milliseconds: number): void => this.#commits.observe(milliseconds / 1_000);

  /** Begins to observe the parts of the application, which are created later. */
  watch(sources: GaugeSources): void {
    this.#gauges = new Gauges(sources);
  }

  async families(): Promise<MetricFamily[]> {
    const calls = this.#calls.families();
    const version = { labels: { version: this.#version }, value: 1 };
    return [
      { name: "tollgate_info", help: "The gateway's version.", type: "gauge", values: [version], aggregator: "max" },
      ...calls,
      ...(this.#names === "litellm" ? litellmFamilies(calls) : []),
      histogramFamily("tollgate_commit_seconds", "Commits of the ledger.", [[{}, this.#commits]]),
      ...((await this.#gauges?.families()) ?? []),
    ];
  }

  stop(): void {
    this.#gauges?.stop();
  }
}
