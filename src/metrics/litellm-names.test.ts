import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { counter, type MetricFamily } from "./family.ts";
import { Histogram, histogramFamily } from "./histogram.ts";
import { litellmFamilies } from "./litellm-names.ts";

const model = { operation: "chat", provider: "openai", model: "gpt-4o" };
const seconds = new Histogram([1, 10]);
seconds.observe(0.5);
seconds.observe(5);

const own: MetricFamily[] = [
  counter("tollgate_calls_total", "", [
    { labels: { ...model, class: "ok" }, value: 5 },
    { labels: { ...model, class: "overloaded" }, value: 2 },
    { labels: { ...model, operation: "messages", class: "ok" }, value: 1 },
  ]),
  counter("tollgate_units_total", "", [
    { labels: { ...model, unit: "input" }, value: 100 },
    { labels: { ...model, unit: "cache_read" }, value: 30 },
    { labels: { ...model, unit: "reasoning" }, value: 7 },
    { labels: { ...model, unit: "image" }, value: 3 },
  ]),
  counter("tollgate_attempts_total", "", [
    { labels: { provider: "openai", class: "ok" }, value: 6 },
    { labels: { provider: "openai", class: "overloaded" }, value: 4 },
  ]),
  histogramFamily("tollgate_call_seconds", "", [
    [{ operation: "chat", provider: "openai" }, seconds],
    [{ operation: "messages", provider: "openai" }, seconds],
  ]),
];

const families = litellmFamilies(own);
const valuesOf = (name: string) => families.find((family) => family.name === name)?.values;

test("calls, tokens and attempts are summed over the labels that LiteLLM does not have", () => {
  const labels = { model: "gpt-4o", requested_model: "gpt-4o", litellm_model_name: "gpt-4o", api_provider: "openai" };
  expect(valuesOf("litellm_proxy_total_requests_metric_total")).toEqual([{ labels, value: 8 }]);
  expect(valuesOf("litellm_proxy_failed_requests_metric_total")).toEqual([{ labels, value: 2 }]);
  expect(valuesOf("litellm_input_tokens_metric_total")).toEqual([{ labels, value: 130 }]);
  expect(valuesOf("litellm_output_tokens_metric_total")).toEqual([{ labels, value: 7 }]);
  expect(valuesOf("litellm_total_tokens_metric_total")).toEqual([{ labels, value: 137 }]);
  expect(valuesOf("litellm_deployment_failure_responses_total")).toEqual([
    { labels: { api_provider: "openai" }, value: 4 },
  ]);
  expect(valuesOf("litellm_spend_metric_total")).toEqual([]);
});

test("histograms keep their parts", () => {
  const name = "litellm_request_total_latency_metric";
  expect(valuesOf(name)?.map(({ metricName, labels, value }) => [metricName, labels["le"], value])).toEqual([
    [`${name}_bucket`, "1", 2],
    [`${name}_bucket`, "10", 4],
    [`${name}_bucket`, "+Inf", 4],
    [`${name}_sum`, undefined, 11],
    [`${name}_count`, undefined, 4],
  ]);
});

test("all of them are documented", () => {
  const document = readFileSync(join(import.meta.dir, "../../docs/from-litellm.md"), "utf8");
  const documented = [...document.matchAll(/^\| `(litellm_[a-z_]+)` \| `tollgate_/gm)].map(([, name]) => name);
  expect(documented).toEqual(families.map(({ name }) => name));
});
