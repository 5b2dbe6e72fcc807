/** What the samples of the documentation send, by operation. A test sends each of them that creates something to a gateway. */

type Body = Readonly<Record<string, unknown>>;

/** The text that models are asked with. */
export const GREETING = "Say hello in one word.";

const greeting = [{ role: "user", content: GREETING }];
const contents = [{ role: "user", parts: [{ text: GREETING }] }];
const item = { type: "message", role: "user", content: GREETING };

/** The JSON bodies. Every operation that takes JSON has one. */
export const sampleBodies: Readonly<Record<string, Body>> = {
  createChatCompletion: { model: "openai/gpt-5-mini", messages: greeting },
  createMessage: { model: "anthropic/claude-haiku-4-5", max_tokens: 256, messages: greeting },
  countMessageTokens: { model: "anthropic/claude-haiku-4-5", messages: greeting },
  generateContent: { contents },
  streamGenerateContent: { contents },
  countTokens: { contents },
  embedContent: { content: { parts: [{ text: "a text" }] } },
  batchEmbedContents: {
    requests: [{ content: { parts: [{ text: "a text" }] } }, { content: { parts: [{ text: "another text" }] } }],
  },
  createCompletion: { model: "openai/gpt-3.5-turbo-instruct", prompt: "Once upon a time", max_tokens: 32 },
  createResponse: { model: "openai/gpt-5-mini", input: GREETING },
  countResponseTokens: { model: "openai/gpt-5-mini", input: GREETING },
  compactResponse: { model: "openai/gpt-5-mini", input: [item] },
  createConversation: { items: [item], metadata: { topic: "greetings" } },
  updateConversation: { metadata: { topic: "greetings" } },
  createConversationItems: { items: [item] },
  createEmbedding: { model: "openai/text-embedding-3-small", input: ["a text", "another text"] },
  rerank: {
    model: "cohere/rerank-v3.5",
    query: "What is the capital of France?",
    documents: ["Paris", "Berlin"],
    top_n: 1,
  },
  rerankV2: {
    model: "cohere/rerank-v3.5",
    query: "What is the capital of France?",
    documents: ["Paris", "Berlin"],
    top_n: 1,
  },
  createModeration: { model: "openai/omni-moderation-latest", input: "a text to look at" },
  createImage: { model: "openai/gpt-image-1", prompt: "a lighthouse at dusk", size: "1024x1024", quality: "low" },
  createImageEdit: {
    model: "openai/gpt-image-1",
    prompt: "make it night",
    images: [{ image_url: "https://example.com/lighthouse.png" }],
  },
  createBatch: { input_file_id: "FILE_ID", endpoint: "/v1/chat/completions", completion_window: "24h" },
  createMessageBatch: {
    requests: [
      { custom_id: "first", params: { model: "anthropic/claude-haiku-4-5", max_tokens: 256, messages: greeting } },
    ],
  },
  createVideo: { model: "openai/sora-2", prompt: "waves at a lighthouse", seconds: "4", size: "1280x720" },
  createVideoGeneration: { model: "openai/sora-2", prompt: "waves at a lighthouse", seconds: "4" },
  createVideoTask: { model: "seedance-1-5-pro-251215", content: [{ type: "text", text: "waves at a lighthouse" }] },
  createVideoEdit: { prompt: "make it night", video: { id: "VIDEO_ID" } },
  createVideoExtension: { prompt: "the sun goes down", seconds: "4", video: { id: "VIDEO_ID" } },
  createSpeech: { model: "openai/gpt-4o-mini-tts", input: "Hello from the gateway.", voice: "alloy" },
  createRealtimeClientSecret: { session: { type: "realtime", model: "openai/gpt-realtime" } },
  search: { query: "tide tables", limit: 3 },
  scrape: { url: "https://example.com/", formats: ["markdown"] },
  map: { url: "https://example.com/", limit: 100 },
  crawl: { url: "https://example.com/", limit: 10 },
  previewCrawl: { url: "https://example.com/", prompt: "Pages about the price." },
  extract: { urls: ["https://example.com/"], prompt: "The title of the page." },
  batchScrape: { urls: ["https://example.com/", "https://example.com/about"], formats: ["markdown"] },
  callTool: { query: "tide tables" },
  changeProvider: { disabled: true, for: 3600, reason: "errors since noon" },
  createWebhookSecret: { rotate: true },
  createToolConnection: { server: "github", account: "work" },
  createAlertChannel: { url: "https://example.com/hook", thresholds: [80, 100] },
  createOrganisation: { name: "acme", max_budget: 500, period: "monthly" },
  changeOrganisation: { max_budget: 800, reason: "more people" },
  createUser: { name: "ada", organisation: "acme" },
  changeUser: { max_budget: 50, period: "monthly" },
  createProject: { name: "site", organisation: "acme", members: ["ada"], max_budget: 50, period: "monthly" },
  changeProject: { members: ["ada", "bea"] },
  signIn: { token: "tg_…" },
  createToken: { user: "ada", name: "laptop", models: ["openai/*", "anthropic/*"] },
  changeToken: { paused: true, reason: "lost laptop" },
  rotateToken: { overlap: 3600 },
  applyPeople: { people: [{ name: "ada", organisation: "acme", models: ["openai/*"], token: true }] },
  reloadConfiguration: { reason: "new prices" },
  createModelGroup: { name: "frontier", models: ["openai/gpt-5*", "anthropic/claude-opus-*"] },
  changeModelGroup: { models: ["openai/gpt-6*", "anthropic/claude-opus-*"] },
  createBudget: { organisation: "acme", models: "frontier", max_budget: 20, period: "weekly" },
  changeBudget: { raise: { by: 10, until: "2027-01-01T00:00:00Z" }, reason: "the release" },
  grantCredits: { organisation: "acme", amount: 100, reason: "November" },
};

/** The forms: a value that begins with @ is a file. */
export const sampleForms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createTranscription: { model: "openai/gpt-4o-mini-transcribe", file: "@speech.mp3" },
  createTranslation: { model: "openai/whisper-1", file: "@speech.mp3" },
  parse: { file: "@report.pdf" },
  createFile: { purpose: "user_data", file: "@report.pdf" },
  createProviderFile: { purpose: "user_data", file: "@report.pdf" },
};
