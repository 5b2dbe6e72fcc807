/** The worst bodies that the limits allow, by what they make expensive. */
export interface Shape {
  name: string;
  path: string;
  /** JSON text. */
  body: () => string;
}

const BYTES = 31 * 1024 * 1024;
const COUNTED_BYTES = 27 * 1024 * 1024;
const MESSAGES = 32_000;
const chat = "/v1/chat/completions";
const messages = "/v1/messages";
const native = '"model":"openai/gpt-5-mini","max_completion_tokens":20';
/** To Messages: OpenAI has no such route. */
const translated = '"model":"openai/gpt-5-mini","max_tokens":20';
const counted = '"model":"mistral/mistral-small-latest"';
const stored = '"model":"mistral/mistral-small-latest","max_output_tokens":20';

const list = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join();
/** Simulators repeat the last message, which is short, so that the answer is. */
const turns = (text: string): string =>
  `[{"role":"user","content":"${text}"},{"role":"assistant","content":"x"},{"role":"user","content":"x"}]`;
const saying = (head: string, text: string): string => `{${head},"messages":${turns(text)}}`;
const conversation = (head: string, name: "messages" | "input", role: string, text = "x"): string =>
  `{${head},"${name}":[{"role":"user","content":"x"},${list(MESSAGES - 2, () => `{"role":"${role}","content":"${text}"}`)},{"role":"user","content":"x"}]}`;

const textsOf = (bytes: number): readonly [string, string][] => [
  ["ASCII", "x".repeat(bytes)],
  ["three-byte letters", "日".repeat(bytes / 3)],
  ["escaped line feeds", "\\n".repeat(bytes / 2)],
  ["escaped quotes", '\\"'.repeat(bytes / 2)],
  ["escaped letters", "\\u65e5".repeat(bytes / 6)],
];

const ofText = (where: string, path: string, head: string): Shape[] =>
  textsOf(BYTES).map(([name, text]) => ({ name: `31 MB of ${name}, ${where}`, path, body: () => saying(head, text) }));

/** Free, so that nothing but these bounds stops a caller: Mistral has no such routes, and the gateway estimates. */
const countedShapes: readonly Shape[] = [
  ...textsOf(COUNTED_BYTES).map(([name, text]) => ({
    name: `27 MB of ${name}, counted as Messages`,
    path: "/v1/messages/count_tokens",
    body: () => saying(counted, text),
  })),
  {
    name: "32,000 messages of 850 bytes each, counted as Messages",
    path: "/v1/messages/count_tokens",
    body: () => conversation(counted, "messages", "user", "x".repeat(850)),
  },
  {
    name: "32,000 items of 850 bytes each, counted as Responses",
    path: "/v1/responses/input_tokens",
    body: () => conversation(counted, "input", "user", "x".repeat(850)),
  },
  {
    name: "27 MB of escapes, counted by its provider",
    path: "/v1/responses/input_tokens",
    body: () => `{"model":"openai/gpt-5-mini","input":"${"\\n".repeat(COUNTED_BYTES / 2)}"}`,
  },
];

export const shapes: readonly Shape[] = [
  ...countedShapes,
  ...ofText("passed through", chat, native),
  ...ofText("translated", messages, translated),
  {
    name: "31 MB, to be stored by the gateway",
    path: "/v1/responses",
    body: () => `{${stored},"input":${turns("x".repeat(BYTES))}}`,
  },
  {
    name: "8 MB, to be stored by the gateway",
    path: "/v1/responses",
    body: () => `{${stored},"input":${turns("x".repeat(8_300_000))}}`,
  },
  {
    name: "31 MB of escapes in an unknown field",
    path: "/v1/responses",
    body: () => `{"model":"openai/gpt-5-mini","input":"x","other":"${"\\n".repeat(BYTES / 2)}"}`,
  },
  { name: "16 MB of white space", path: chat, body: () => `{${" ".repeat(16_700_000)}${saying(native, "x").slice(1)}` },
  { name: "a number of 16 MB", path: chat, body: () => saying(`${native},"other":${"1".repeat(16_700_000)}`, "x") },
  {
    name: "65,000 different keys",
    path: chat,
    body: () => saying(`${native},"metadata":{${list(65_000, (i) => `"${"k".repeat(60)}${i}":1`)}}`, "x"),
  },
  {
    name: "399,000 numbers",
    path: "/v1/embeddings",
    body: () => `{"model":"openai/text-embedding-3-small","input":[${list(1_990, () => `[${"1,".repeat(198)}1]`)}]}`,
  },
  { name: "32,000 messages, passed through", path: chat, body: () => conversation(native, "messages", "user") },
  {
    name: "32,000 messages, translated",
    path: messages,
    body: () => conversation(translated, "messages", "assistant"),
  },
  {
    name: "32,000 messages of 940 bytes each, translated",
    path: messages,
    body: () => conversation(translated, "messages", "user", "x".repeat(940)),
  },
  {
    name: "32,000 items, passed through",
    path: "/v1/responses",
    body: () => conversation('"model":"openai/gpt-5-mini"', "input", "user"),
  },
  {
    name: "32,000 items, translated and stored",
    path: "/v1/responses",
    body: () => conversation(stored, "input", "user"),
  },
  {
    name: "1,000 references to foreign items",
    path: "/v1/responses",
    body: () =>
      `{"model":"openai/gpt-5-mini","input":[${list(1_000, (i) => `{"type":"reasoning","id":"rs_${i}","summary":[]}`)}]}`,
  },
];
