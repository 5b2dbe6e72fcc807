/** The gateway's counts under the names of LiteLLM's metrics, for dashboards that exist. */
import { bucketNames, inputTokens, outputTokens, type Usage, usageBuckets } from "../core/index.ts";
import { counter, type Labels, type MetricFamily, type Sample } from "./family.ts";

/** LiteLLM's labels of a series. */
function labelsOf({ model, provider }: Labels): Labels {
  return {
    ...(model !== undefined && { model, requested_model: model, litellm_model_name: model }),
    ...(provider !== undefined && { api_provider: provider }),
  };
}

type Keeps = (labels: Labels) => boolean;

interface Renamed {
  name: string;
  help: string;
  of: string;
  /** The samples that count; undefined for all. */
  keeps?: Keeps;
}

/** The names of units by the side of a call that counts them. */
const unitsOf = (tokens: (usage: Usage) => number): ReadonlySet<string> =>
  new Set(usageBuckets.filter((bucket) => tokens({ [bucket]: 1 }) > 0).map((bucket) => bucketNames[bucket]));

const inputUnits = unitsOf(inputTokens);
const outputUnits = unitsOf(outputTokens);

const isUnit =
  (...sets: ReadonlySet<string>[]): Keeps =>
  ({ unit = "" }) =>
    sets.some((units) => units.has(unit));
const succeeded: Keeps = (labels) => labels["class"] === "ok";
const failed: Keeps = (labels) => labels["class"] !== "ok";

const counters: readonly Renamed[] = [
  { name: "litellm_proxy_total_requests_metric_total", help: "Calls that have ended.", of: "tollgate_calls_total" },
  {
    name: "litellm_proxy_failed_requests_metric_total",
    help: "Calls that have not succeeded.",
    of: "tollgate_calls_total",
    keeps: failed,
  },
  { name: "litellm_requests_metric_total", help: "Calls that have ended.", of: "tollgate_calls_total" },
  { name: "litellm_spend_metric_total", help: "Credits that were charged.", of: "tollgate_credits_total" },
  {
    name: "litellm_total_tokens_metric_total",
    help: "Tokens of input and output.",
    of: "tollgate_units_total",
    keeps: isUnit(inputUnits, outputUnits),
  },
  {
    name: "litellm_input_tokens_metric_total",
    help: "Tokens of input.",
    of: "tollgate_units_total",
    keeps: isUnit(inputUnits),
  },
  {
    name: "litellm_output_tokens_metric_total",
    help: "Tokens of output.",
    of: "tollgate_units_total",
    keeps: isUnit(outputUnits),
  },
  {
    name: "litellm_deployment_total_requests_total",
    help: "Requests to upstreams.",
    of: "tollgate_attempts_total",
  },
  {
    name: "litellm_deployment_success_responses_total",
    help: "Requests to upstreams that have succeeded.",
    of: "tollgate_attempts_total",
    keeps: succeeded,
  },
  {
    name: "litellm_deployment_failure_responses_total",
    help: "Requests to upstreams that have failed.",
    of: "tollgate_attempts_total",
    keeps: failed,
  },
];

/** LiteLLM's histograms are in seconds too; its labels with a model are absent, since these times are those of a provider. */
const histograms: readonly Renamed[] = [
  {
    name: "litellm_request_total_latency_metric",
    help: "From the arrival of a call to its end.",
    of: "tollgate_call_seconds",
  },
  {
    name: "litellm_llm_api_time_to_first_token_metric",
    help: "To the first byte of a streamed answer.",
    of: "tollgate_first_byte_seconds",
  },
  {
    name: "litellm_overhead_latency_metric",
    help: "Time to the first byte, or to the whole answer, without that of the upstream.",
    of: "tollgate_added_seconds",
  },
];

/** LiteLLM's families, from the gateway's own. */
export function litellmFamilies(families: readonly MetricFamily[]): MetricFamily[] {
  const samplesOf = (name: string): readonly Sample[] => families.find((family) => family.name === name)?.values ?? [];
  return [
    ...counters.map(({ name, help, of, keeps = () => true }) =>
      counter(name, help, summed(samplesOf(of).filter(({ labels }) => keeps(labels)))),
    ),
    ...histograms.map(({ name, help, of }): MetricFamily => {
      const values = summed(samplesOf(of)).map(({ metricName = "", ...sample }) => ({
        ...sample,
        metricName: metricName.replace(of, name),
      }));
      return { name, help, type: "histogram", values, aggregator: "sum" };
    }),
  ];
}

/** Samples whose other labels differ are one. */
function summed(samples: readonly Sample[]): Sample[] {
  const sums = new Map<string, Sample>();
  for (const { labels: own, value, metricName } of samples) {
    const { le } = own;
    const labels = { ...labelsOf(own), ...(le !== undefined && { le }) };
    const key = JSON.stringify([metricName, labels]);
    sums.set(key, {
      labels,
      value: value + (sums.get(key)?.value ?? 0),
      ...(metricName !== undefined && { metricName }),
    });
  }
  return [...sums.values()];
}
