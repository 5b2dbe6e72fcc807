/** The functions of official SDKs that call an operation. */
import { pythonArguments, pythonLiteral, typeScriptLiteral } from "./literals.ts";
import { GREETING, sampleBodies } from "./sample-requests.ts";

interface Sdk {
  python: string;
  typescript: string;
}

/** The lines that make `client` in each language. */
export const sdks = {
  openai: {
    python: `from openai import OpenAI

client = OpenAI(
    base_url=os.environ["TOLLGATE_URL"] + "/v1",
    api_key=os.environ["TOLLGATE_TOKEN"],
)`,
    typescript: `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: \`\${process.env.TOLLGATE_URL}/v1\`,
  apiKey: process.env.TOLLGATE_TOKEN,
});`,
  },
  anthropic: {
    python: `from anthropic import Anthropic

client = Anthropic(
    base_url=os.environ["TOLLGATE_URL"],
    api_key=os.environ["TOLLGATE_TOKEN"],
)`,
    typescript: `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: process.env.TOLLGATE_URL,
  apiKey: process.env.TOLLGATE_TOKEN,
});`,
  },
  google: {
    python: `from google import genai

client = genai.Client(
    api_key=os.environ["TOLLGATE_TOKEN"],
    http_options={"base_url": os.environ["TOLLGATE_URL"]},
)`,
    typescript: `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.TOLLGATE_TOKEN,
  httpOptions: { baseUrl: process.env.TOLLGATE_URL },
});`,
  },
  firecrawl: {
    python: `from firecrawl import Firecrawl

client = Firecrawl(
    api_url=os.environ["TOLLGATE_URL"],
    api_key=os.environ["TOLLGATE_TOKEN"],
)`,
    typescript: `import { Firecrawl } from "@mendable/firecrawl-js";

const client = new Firecrawl({
  apiUrl: process.env.TOLLGATE_URL,
  apiKey: process.env.TOLLGATE_TOKEN,
});`,
  },
  cohere: {
    python: `import cohere

client = cohere.ClientV2(
    base_url=os.environ["TOLLGATE_URL"],
    api_key=os.environ["TOLLGATE_TOKEN"],
)`,
    typescript: `import { CohereClientV2 } from "cohere-ai";

const client = new CohereClientV2({
  environment: process.env.TOLLGATE_URL,
  token: process.env.TOLLGATE_TOKEN,
});`,
  },
} satisfies Readonly<Record<string, Sdk>>;

export interface SdkCall {
  sdk: keyof typeof sdks;
  /** The call behind `client.`, with its arguments. */
  python: string;
  typescript: string;
  /** How the answer is shown, if not as a whole. */
  shown?: "text-parts";
  /** A module of Node.js that the TypeScript imports, with its names. */
  imports?: string;
}

/** The text before the name of a function. */
const CALL = "const answer = await client.";

type Body = Readonly<Record<string, unknown>>;

/** A function that takes the body of the samples as named arguments. */
function taking(
  sdk: SdkCall["sdk"],
  id: string,
  [python, typescript = python]: readonly string[],
  more: Body = {},
): SdkCall {
  const body = { ...more, ...sampleBodies[id] };
  if (Object.keys(body).length === 0) return { sdk, python: `${python ?? ""}()`, typescript: `${typescript ?? ""}()` };
  return {
    sdk,
    python: `${python ?? ""}(${pythonArguments(body)})`,
    typescript: `${typescript ?? ""}(${typeScriptLiteral(body, "", CALL.length + (typescript ?? "").length)})`,
  };
}

const openai = (id: string, ...names: string[]): SdkCall => taking("openai", id, names);

/** A function with arguments that are written out, alike in both languages. */
const openaiAs = (python: string, typescript = python): SdkCall => ({ sdk: "openai", python, typescript });

/** Firecrawl's functions take the first member of the body by its place. */
function firecrawl(id: string, python: string, typescript: string): SdkCall {
  const [[, first] = [], ...options] = Object.entries(sampleBodies[id] ?? {});
  const named = options.map(([name, value]) => `, ${name}=${pythonLiteral(value)}`).join("");
  return {
    sdk: "firecrawl",
    python: `${python}(${pythonLiteral(first)}${named})`,
    typescript: `${typescript}(${typeScriptLiteral(first)}, ${typeScriptLiteral(Object.fromEntries(options))})`,
  };
}

const firecrawlAs = (python: string, typescript: string): SdkCall => ({ sdk: "firecrawl", python, typescript });

const file = (name: string): { python: string; typescript: string; imports: string } => ({
  python: `open("${name}", "rb")`,
  typescript: `createReadStream("${name}")`,
  imports: `import { createReadStream } from "node:fs";`,
});

/** A function of OpenAI's SDK with a file among its arguments. */
function openaiForm(
  name: string,
  [member, path]: readonly [string, string],
  values: Readonly<Record<string, string>>,
): SdkCall {
  const { python, typescript, imports } = file(path);
  const pairs = Object.entries(values);
  const py = pairs.map(([key, value]) => `    ${key}=${pythonLiteral(value)},\n`).join("");
  const ts = pairs.map(([key, value]) => `  ${key}: ${typeScriptLiteral(value)},\n`).join("");
  return {
    sdk: "openai",
    python: `${name}(\n${py}    ${member}=${python},\n)`,
    typescript: `${name}({\n${ts}  ${member}: ${typescript},\n})`,
    imports,
  };
}

const google = (python: string, typescript: string, body: Body): SdkCall =>
  taking("google", "", [python, typescript], body);

/** Cohere's SDK has names of its own in TypeScript. */
const topN = Object.fromEntries(
  Object.entries(sampleBodies["rerankV2"] ?? {}).map(([name, value]) => [name === "top_n" ? "topN" : name, value]),
);

/** By operation. */
export const sdkCalls: Readonly<Record<string, SdkCall>> = {
  listModels: openai("listModels", "models.list"),
  getModel: openaiAs('models.retrieve("openai/gpt-5-mini")'),
  createChatCompletion: openai("createChatCompletion", "chat.completions.create"),
  createCompletion: openai("createCompletion", "completions.create"),
  createResponse: openai("createResponse", "responses.create"),
  countResponseTokens: openai("countResponseTokens", "responses.input_tokens.count", "responses.inputTokens.count"),
  compactResponse: openai("compactResponse", "responses.compact"),
  getResponse: openaiAs('responses.retrieve("RESPONSE_ID")'),
  deleteResponse: openaiAs('responses.delete("RESPONSE_ID")'),
  cancelResponse: openaiAs('responses.cancel("RESPONSE_ID")'),
  listInputItems: openaiAs('responses.input_items.list("RESPONSE_ID")', 'responses.inputItems.list("RESPONSE_ID")'),
  createConversation: openai("createConversation", "conversations.create"),
  getConversation: openaiAs('conversations.retrieve("CONVERSATION_ID")'),
  updateConversation: openaiAs(
    'conversations.update("CONVERSATION_ID", metadata={"topic": "greetings"})',
    'conversations.update("CONVERSATION_ID", { metadata: { topic: "greetings" } })',
  ),
  deleteConversation: openaiAs('conversations.delete("CONVERSATION_ID")'),
  listConversationItems: openaiAs('conversations.items.list("CONVERSATION_ID")'),
  createConversationItems: openaiAs(
    `conversations.items.create(\n    "CONVERSATION_ID",\n    items=[{"type": "message", "role": "user", "content": "${GREETING}"}],\n)`,
    `conversations.items.create("CONVERSATION_ID", {\n  items: [{ type: "message", role: "user", content: "${GREETING}" }],\n})`,
  ),
  getConversationItem: openaiAs(
    'conversations.items.retrieve("ITEM_ID", conversation_id="CONVERSATION_ID")',
    'conversations.items.retrieve("ITEM_ID", { conversation_id: "CONVERSATION_ID" })',
  ),
  deleteConversationItem: openaiAs(
    'conversations.items.delete("ITEM_ID", conversation_id="CONVERSATION_ID")',
    'conversations.items.delete("ITEM_ID", { conversation_id: "CONVERSATION_ID" })',
  ),
  createEmbedding: openai("createEmbedding", "embeddings.create"),
  createModeration: openai("createModeration", "moderations.create"),
  createImage: openai("createImage", "images.generate"),
  createImageEdit: openaiForm("images.edit", ["image", "lighthouse.png"], {
    model: "openai/gpt-image-1",
    prompt: "make it night",
  }),
  createVideo: openai("createVideo", "videos.create"),
  listVideos: openai("listVideos", "videos.list"),
  getVideo: openaiAs('videos.retrieve("VIDEO_ID")'),
  deleteVideo: openaiAs('videos.delete("VIDEO_ID")'),
  downloadVideo: openaiAs('videos.download_content("VIDEO_ID")', 'videos.downloadContent("VIDEO_ID")'),
  createSpeech: openai("createSpeech", "audio.speech.create"),
  createTranscription: openaiForm("audio.transcriptions.create", ["file", "speech.mp3"], {
    model: "openai/gpt-4o-mini-transcribe",
  }),
  createTranslation: openaiForm("audio.translations.create", ["file", "speech.mp3"], { model: "openai/whisper-1" }),
  createRealtimeClientSecret: openai(
    "createRealtimeClientSecret",
    "realtime.client_secrets.create",
    "realtime.clientSecrets.create",
  ),
  createFile: openaiForm("files.create", ["file", "report.pdf"], { purpose: "user_data" }),
  listFiles: openai("listFiles", "files.list"),
  getFile: openaiAs('files.retrieve("FILE_ID")'),
  deleteFile: openaiAs('files.delete("FILE_ID")'),
  downloadFile: openaiAs('files.content("FILE_ID")'),
  createBatch: openai("createBatch", "batches.create"),
  listBatches: openai("listBatches", "batches.list"),
  getBatch: openaiAs('batches.retrieve("BATCH_ID")'),
  cancelBatch: openaiAs('batches.cancel("BATCH_ID")'),
  createMessage: taking("anthropic", "createMessage", ["messages.create"]),
  countMessageTokens: taking("anthropic", "countMessageTokens", ["messages.count_tokens", "messages.countTokens"]),
  generateContent: google("models.generate_content", "models.generateContent", {
    model: "openai/gpt-5-mini",
    contents: GREETING,
  }),
  streamGenerateContent: {
    ...google("models.generate_content_stream", "models.generateContentStream", {
      model: "openai/gpt-5-mini",
      contents: GREETING,
    }),
    shown: "text-parts",
  },
  countTokens: google("models.count_tokens", "models.countTokens", { model: "openai/gpt-5-mini", contents: GREETING }),
  batchEmbedContents: google("models.embed_content", "models.embedContent", {
    model: "openai/text-embedding-3-small",
    contents: ["a text", "another text"],
  }),
  rerankV2: {
    ...taking("cohere", "rerankV2", ["rerank"]),
    typescript: `rerank(${typeScriptLiteral(topN, "", CALL.length)})`,
  },
  search: firecrawl("search", "search", "search"),
  scrape: firecrawl("scrape", "scrape", "scrape"),
  map: firecrawl("map", "map", "map"),
  crawl: firecrawl("crawl", "start_crawl", "startCrawl"),
  getCrawl: firecrawlAs('get_crawl_status("ID")', 'getCrawlStatus("ID")'),
  getCrawlErrors: firecrawlAs('get_crawl_errors("ID")', 'getCrawlErrors("ID")'),
  cancelCrawl: firecrawlAs('cancel_crawl("ID")', 'cancelCrawl("ID")'),
  listActiveCrawls: firecrawlAs("get_active_crawls()", "getActiveCrawls()"),
  batchScrape: firecrawl("batchScrape", "start_batch_scrape", "startBatchScrape"),
  getBatchScrape: firecrawlAs('get_batch_scrape_status("ID")', 'getBatchScrapeStatus("ID")'),
  getBatchScrapeErrors: firecrawlAs('get_batch_scrape_errors("ID")', 'getBatchScrapeErrors("ID")'),
  cancelBatchScrape: firecrawlAs('cancel_batch_scrape("ID")', 'cancelBatchScrape("ID")'),
  checkConcurrency: firecrawlAs("get_concurrency()", "getConcurrency()"),
  getCreditUsage: firecrawlAs("get_credit_usage()", "getCreditUsage()"),
  getTokenUsage: firecrawlAs("get_token_usage()", "getTokenUsage()"),
  getCreditUsageHistory: firecrawlAs("get_credit_usage_historical()", "getCreditUsageHistorical()"),
  getTokenUsageHistory: firecrawlAs("get_token_usage_historical()", "getTokenUsageHistorical()"),
};
