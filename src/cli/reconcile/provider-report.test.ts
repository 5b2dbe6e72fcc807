/** The shapes are those of the providers' documents and of files that their consoles have written; the figures are made up. */
import { expect, test } from "bun:test";
import { modelKey, readReport } from "./provider-report.ts";

const day = (date: string): number => Date.parse(date) / 86_400_000;

test.each([
  ["gpt-5-nano-2025-08-07", "gpt-5-nano"],
  ["gpt-4o-mini", "gpt-4o-mini"],
  ["claude-haiku-4-5-20251001", "claude-haiku-4-5"],
  ["Claude Haiku 4.5", "claude-haiku-4-5"],
  ["Claude 3.5 Sonnet 2024-10-22", "claude-3-5-sonnet"],
  ["claude-3-5-sonnet-latest", "claude-3-5-sonnet"],
  ["Qwen/Qwen3_32B", "qwen/qwen3-32b"],
])("the key of %s is %s", (name, key) => {
  expect(modelKey(name)).toBe(key);
});

const openaiCosts = (value: number, line: string | null, start = 1_730_419_200) => ({
  object: "page",
  data: [
    {
      object: "bucket",
      start_time: start,
      end_time: start + 86_400,
      results: [
        { object: "organization.costs.result", amount: { value, currency: "usd" }, line_item: line, project_id: null },
      ],
    },
  ],
  has_more: false,
  next_page: null,
});

test("OpenAI's costs, by line items or in all", () => {
  const november = day("2024-11-01");
  expect(readReport(JSON.stringify(openaiCosts(0.06, null)))).toEqual([
    { day: november, model: undefined, cost: 0.06 },
  ]);
  const pages = [openaiCosts(1.5, "gpt-5-nano-2025-08-07, input"), openaiCosts(2, "GPT-5 nano, output", 1_730_505_600)];
  const wanted = [
    { day: november, model: "gpt-5-nano", cost: 1.5 },
    { day: november + 1, model: "gpt-5-nano", cost: 2 },
  ];
  expect(readReport(JSON.stringify(pages))).toEqual(wanted);
  expect(readReport(pages.map((page) => JSON.stringify(page)).join("\n"))).toEqual(wanted);
  expect(readReport(JSON.stringify(pages.flatMap(({ data }) => data)))).toEqual(wanted);
});

test("OpenAI's usage", () => {
  const result = {
    object: "organization.usage.completions.result",
    input_tokens: 1_000,
    output_tokens: 500,
    input_cached_tokens: 800,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
    num_model_requests: 5,
    project_id: null,
    user_id: null,
    api_key_id: null,
    model: "gpt-4o-mini-2024-07-18",
    batch: null,
  };
  const page = { object: "page", data: [{ object: "bucket", start_time: 1_730_419_200, results: [result] }] };
  expect(readReport(JSON.stringify(page))).toEqual([
    { day: day("2024-11-01"), model: "gpt-4o-mini", inputTokens: 1_000, outputTokens: 500 },
  ]);
});

test("Anthropic's costs are cents, and its usage has input in four counts", () => {
  const bucket = { starting_at: "2025-08-01T00:00:00Z", ending_at: "2025-08-02T00:00:00Z" };
  const cost = {
    currency: "USD",
    amount: "123.78912",
    workspace_id: "wrkspc_01",
    description: "Claude Sonnet 4 Usage - Input Tokens",
    cost_type: "tokens",
    context_window: "0-200k",
    model: "claude-sonnet-4-20250514",
    service_tier: "standard",
    token_type: "uncached_input_tokens",
  };
  const costs = { data: [{ ...bucket, results: [cost] }], has_more: true, next_page: "page_x" };
  const august = day("2025-08-01");
  expect(readReport(JSON.stringify(costs))).toEqual([{ day: august, model: "claude-sonnet-4", cost: 1.2378912 }]);
  const usage = {
    uncached_input_tokens: 1_500,
    cache_creation: { ephemeral_1h_input_tokens: 1_000, ephemeral_5m_input_tokens: 500 },
    cache_read_input_tokens: 200,
    output_tokens: 500,
    server_tool_use: { web_search_requests: 10 },
    api_key_id: "apikey_01",
    workspace_id: "wrkspc_01",
    model: "claude-sonnet-4-20250514",
    service_tier: "standard",
    context_window: "0-200k",
  };
  expect(readReport(JSON.stringify({ data: [{ ...bucket, results: [usage] }], has_more: false }))).toEqual([
    { day: august, model: "claude-sonnet-4", inputTokens: 3_200, outputTokens: 500 },
  ]);
});

test("the exports of their consoles", () => {
  const openai =
    "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,api_key_id,project_id\n" +
    "1790467200,1790553600,2026-09-27T00:00:00+00:00,2026-09-28T00:00:00+00:00,,,,,,,,\n" +
    "1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,0.003835980000000000000000000000,usd,,,,,,\n" +
    '1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,0.5,usd,1000,tokens,"gpt-5-nano, input_tokens",,key_1,proj_a\n';
  expect(readReport(openai)).toEqual([
    { day: day("2026-09-28"), model: undefined, cost: 0.00383598 },
    { day: day("2026-09-28"), model: "gpt-5-nano", cost: 0.5 },
  ]);
  const costs =
    "\uFEFFusage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,speed\n" +
    "2026-04-06,Claude Haiku 4.5,Default,key,message,≤ 200k,input_no_cache,0.01,0.01,token,global,\n";
  expect(readReport(costs)).toEqual([{ day: day("2026-04-06"), model: "claude-haiku-4-5", cost: 0.01 }]);
  const usage =
    "usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count\n" +
    "2026-03-22,claude-sonnet-4-20250514,key,Default,standard,≤ 200k,100,20,3,4,50,0\n";
  expect(readReport(usage)).toEqual([
    { day: day("2026-03-22"), model: "claude-sonnet-4", inputTokens: 127, outputTokens: 50 },
  ]);
});

test("any CSV with a day and a cost, in whatever zone it is written", () => {
  const text = "Date,Model,Cost\n2026-11-02T01:30:00+02:00,small,$1.25\n2026-11-02 23:59:59,small,2\n";
  expect(readReport(text)).toEqual([
    { day: day("2026-11-01"), model: "small", cost: 1.25 },
    { day: day("2026-11-02"), model: "small", cost: 2 },
  ]);
});

test.each([
  ["", "no column is the day"],
  ["date,cost\n2026-11-01,\n", "no row"],
  ["[]", "no row"],
  ["{", "line 1 is no JSON"],
  ['{"data":[{"start_time":1}]}', "no list of results"],
  ["a,b\n1,2\n", "no column is the day"],
  ["date,model\n2026-11-01,x\n", "no column is a cost"],
  ["date,cost\nyesterday,1\n", '"yesterday" is no time'],
  ["date,cost\n2026-11-01,much\n", '"much" is no number'],
  ["date,cost,currency\n2026-11-01,1,EUR\n", "amounts are in EUR"],
  ['date,cost\n2026-11-01,"1\n', "Quote"],
])("%j is refused in one line", (text, message) => {
  expect(() => readReport(text)).toThrow(message);
});
