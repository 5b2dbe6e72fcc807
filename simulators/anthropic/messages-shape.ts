import { isBase64 } from "../shared/attachments.ts";
import {
  type Check,
  isAnything,
  isFlag,
  isInteger,
  isLike,
  isList,
  isNumber,
  isOneOf,
  isRecord,
  isText,
} from "../shared/check.ts";
import { asObject, isGiven } from "../shared/json.ts";
import {
  list,
  tolerantRecord,
  type RecordOptions,
  type Shape,
  tagged,
  textOr,
  value,
  values,
} from "../shared/shape.ts";

const cacheControl = tolerantRecord(values({ type: isOneOf("ephemeral"), ttl: isOneOf("5m", "1h") }), {
  required: ["type"],
});
const isToolId = isLike(/^[a-zA-Z0-9_-]+$/, "a string of letters, digits, _ and -");
const isFilled = isLike(/[^]/, "a string of at least 1 character");

/** A block: its type, its own members, and a cache breakpoint if permitted. */
function block(members: { readonly [name: string]: Shape }, required: RecordOptions["required"] = []): Shape {
  return tolerantRecord({ type: value(isText), cache_control: cacheControl, ...members }, { required });
}

const imageBase64BytesMax = 5 * 1_048_576;

const imageData: Shape = (data, field) => {
  if (typeof data !== "string") return { kind: "wrong-type", field, expected: "a valid string", value: data };
  if (!isBase64(data)) return { kind: "bad-value", field, message: "invalid base64 data", value: data };
  if (data.length <= imageBase64BytesMax) return null;
  const message = `image exceeds 5 MB maximum: ${data.length} bytes > ${imageBase64BytesMax} bytes`;
  return { kind: "bad-value", field, message, value: null };
};

const fileData: Shape = (data, field) => {
  if (typeof data !== "string") return { kind: "wrong-type", field, expected: "a valid string", value: data };
  return isBase64(data) ? null : { kind: "bad-value", field, message: "invalid base64 data", value: data };
};

function source(members: { readonly [name: string]: Shape }): Shape {
  return tolerantRecord({ type: value(isText), ...members }, { required: Object.keys(members) });
}

const url = source({ url: value(isText) });
const uploaded = source({ file_id: value(isText) });

const text = block({ text: value(isFilled), citations: value(isList) }, ["text"]);

const image = block(
  {
    source: tagged({
      base64: source({
        media_type: value(isOneOf("image/jpeg", "image/png", "image/gif", "image/webp")),
        data: imageData,
      }),
      url,
      file: uploaded,
    }),
  },
  ["source"],
);

const document = block(
  {
    source: tagged({
      base64: source({ media_type: value(isOneOf("application/pdf")), data: fileData }),
      text: source({ media_type: value(isOneOf("text/plain")), data: value(isText) }),
      content: source({ content: value(isAnything) }),
      url,
      file: uploaded,
    }),
    title: value(isText),
    context: value(isText),
    citations: tolerantRecord(values({ enabled: isFlag })),
  },
  ["source"],
);

const searchResult = block(
  { source: value(isText), title: value(isText), content: value(isList), citations: value(isRecord) },
  ["source", "title", "content"],
);

const toolResult = block(
  {
    tool_use_id: value(isToolId),
    content: textOr(
      list(tagged({ text, image, document, search_result: searchResult, tool_reference: value(isRecord) })),
    ),
    is_error: value(isFlag),
  },
  ["tool_use_id"],
);

const isToolName = isLike(/^[a-zA-Z0-9_-]{1,128}$/, "1 to 128 letters, digits, _ and -");

const toolUse = block(
  { id: value(isToolId), name: value(isToolName), input: value(isRecord), caller: value(isRecord) },
  ["id", "name", "input"],
);

const anyRecord = value(isRecord);

/** Results of tools that ran at the provider; accepted unchecked. */
const serverBlocks = {
  server_tool_use: anyRecord,
  web_search_tool_result: anyRecord,
  web_fetch_tool_result: anyRecord,
  code_execution_tool_result: anyRecord,
  bash_code_execution_tool_result: anyRecord,
  text_editor_code_execution_tool_result: anyRecord,
  tool_search_tool_result: anyRecord,
  mcp_tool_use: anyRecord,
  mcp_tool_result: anyRecord,
  container_upload: anyRecord,
};

const contentBlock = tagged({
  text,
  image,
  document,
  search_result: searchResult,
  tool_use: toolUse,
  tool_result: toolResult,
  thinking: tolerantRecord(values({ type: isText, thinking: isText, signature: isText }), {
    required: ["thinking", "signature"],
  }),
  redacted_thinking: tolerantRecord(values({ type: isText, data: isText }), { required: ["data"] }),
  ...serverBlocks,
});

const message = tolerantRecord(
  { role: value(isOneOf("user", "assistant", "system")), content: textOr(list(contentBlock)) },
  { required: ["role", "content"] },
);

const customTool = tolerantRecord(
  {
    type: value(isOneOf("custom")),
    name: value(isToolName),
    description: value(isText),
    input_schema: tolerantRecord({ type: value(isOneOf("object")) }, { required: ["type"], open: true }),
    cache_control: cacheControl,
    strict: value(isFlag),
    eager_input_streaming: value(isFlag),
    defer_loading: value(isFlag),
    input_examples: value(isList),
    allowed_callers: value(isList),
  },
  { required: ["name", "input_schema"] },
);

const serverTool = tolerantRecord({ name: value(isText) }, { required: ["name"], open: true });
const serverToolType =
  /^(web_search|web_fetch|code_execution|bash|text_editor|memory|computer|advisor|tool_search_tool_(bm25|regex))_\d{8}$/;

const tool: Shape = (given, field) => {
  const type = asObject(given)["type"];
  if (!isGiven(type) || type === "custom") return customTool(given, field);
  if (serverToolType.test(String(type))) return serverTool(given, field);
  return { kind: "bad-value", field, message: `Input tag '${String(type)}' is not a known tool type`, value: type };
};

const parallel = { disable_parallel_tool_use: isFlag };

function choice(members: { readonly [name: string]: Check }, required: RecordOptions["required"] = []): Shape {
  return tolerantRecord(values({ type: isText, ...members }), { required });
}

const display = { display: isOneOf("summarized", "omitted") };

const promptMembers = {
  model: value(isText),
  messages: list(message),
  system: textOr(list(text)),
  tools: list(tool),
  tool_choice: tagged({
    auto: choice(parallel),
    any: choice(parallel),
    tool: choice({ name: isText, ...parallel }, ["name"]),
    none: choice({}),
  }),
  thinking: tagged({
    enabled: choice({ budget_tokens: isInteger(1_024, 10_000_000), ...display }, ["budget_tokens"]),
    adaptive: choice(display),
    disabled: choice({}),
    between_tools: choice({}),
  }),
  output_config: tolerantRecord({
    effort: value(isOneOf("low", "medium", "high", "xhigh", "max")),
    format: tagged({
      json_schema: tolerantRecord(values({ type: isText, schema: isRecord }), { required: ["schema"] }),
    }),
    task_budget: value(isRecord),
  }),
  cache_control: cacheControl,
  context_management: value(isRecord),
  mcp_servers: value(isList),
};

const isStopSequence = isLike(/\S/, "a string that is not only white space");

const answerMembers = {
  max_tokens: value(isInteger(0, 100_000_000)),
  stream: value(isFlag),
  stop_sequences: list(value(isStopSequence)),
  metadata: tolerantRecord(values({ user_id: isText })),
  service_tier: value(isOneOf("auto", "standard_only")),
  container: value(isAnything),
  diagnostics: value(isRecord),
  inference_geo: value(isText),
  speed: value(isOneOf("standard", "fast")),
  user_profile_id: value(isText),
  workspace_id: value(isText),
};

const samplingMembers = values({
  temperature: isNumber(0, 1),
  top_p: isNumber(0, 1),
  top_k: isInteger(0, 1_000_000),
});

const required = ["model", "max_tokens", "messages"];

const threadMembers = {
  thread: tagged({
    create: choice({}),
    continue: choice({ previous_message_id: isText }, ["previous_message_id"]),
  }),
};

const fallback = tolerantRecord(
  {
    model: value(isText),
    max_tokens: value(isInteger(0, 100_000_000)),
    thinking: value(isRecord),
    output_config: value(isRecord),
    speed: value(isOneOf("standard", "fast")),
  },
  { required: ["model"] },
);

const fallbackMembers: { readonly fallbacks: Shape } = {
  fallbacks: (given, field) => (given === "default" ? null : list(fallback)(given, field)),
};

/** The features that a header must ask for. */
interface AskedFeatures {
  readonly lean: boolean;
  readonly threads: boolean;
  readonly fallbacks: boolean;
}

/** A request for an answer: the newer version has no sampling parameters, and some members need a header. */
export function messagesShape({ lean, threads, fallbacks }: AskedFeatures): Shape {
  const members = { ...promptMembers, ...answerMembers };
  return tolerantRecord(
    {
      ...members,
      ...(lean ? {} : samplingMembers),
      ...(threads ? threadMembers : {}),
      ...(fallbacks ? fallbackMembers : {}),
    },
    { required },
  );
}

/** A request to count tokens: the prompt alone. */
export const countShape = tolerantRecord(promptMembers, { required: ["model", "messages"] });
