/** Answers of providers, which the gateway relays and whose schemas it does not have: in the shape of each dialect, without rarer members. */

const text = "Hello!";
const id = "openai/gpt-5-mini";
const AT = 1_795_858_200;
const REQUEST = "req_0mwzu8f4kp83a9bftggow46f7";

const chatUsage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const responseUsage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};
const item = {
  type: "message",
  id: "msg_68fa2c1b9d",
  status: "completed",
  role: "user",
  content: [{ type: "input_text", text: "Say hello in one word." }],
};
const itemList = { object: "list", data: [item], first_id: item.id, last_id: item.id, has_more: false };
const response = {
  id: "resp_21d45b7dd45a",
  object: "response",
  created_at: AT,
  status: "completed",
  model: "gpt-5-mini",
  output: [
    {
      id: "msg_ab6630e47762",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
  usage: responseUsage,
};
const generated = {
  candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 },
  modelVersion: id,
};
const ranked = { results: [{ index: 0, relevance_score: 0.98 }] };
const image = { created: AT, data: [{ b64_json: "iVBORw0KGgo…" }] };
const transcript = { text: "Hello from the gateway." };

const model = {
  id,
  object: "model",
  created: AT,
  owned_by: "openai",
  context_length: 400_000,
  operations: ["chat", "responses"],
  pricing: { input_mtok: 0.25, output_mtok: 2, cache_read_mtok: 0.025 },
};
const googleModel = {
  name: `models/${id}`,
  version: "001",
  displayName: "GPT-5 mini",
  description: "",
  inputTokenLimit: 272_000,
  outputTokenLimit: 128_000,
  supportedGenerationMethods: ["generateContent", "countTokens"],
};
const page = {
  markdown: "# Tides\n\nHigh water at 09:30.",
  metadata: {
    title: "Tides",
    sourceURL: "https://example.com/",
    url: "https://example.com/",
    statusCode: 200,
    creditsUsed: 1,
  },
};
const crawlId = "019ac2e0-5d1c-7e2a-9f0b-68fa2c1b9d00";
const status = {
  success: true,
  status: "completed",
  total: 1,
  completed: 1,
  creditsUsed: 1,
  expiresAt: "2026-11-29T09:30:00.000Z",
  createdAt: "2026-11-28T09:30:00.000Z",
  completedAt: "2026-11-28T09:30:04.000Z",
  next: null,
  data: [page],
};
const pageErrors = {
  errors: [
    {
      id: "p_7d41f0",
      timestamp: "2026-11-28T09:30:00.000Z",
      url: "https://example.com/old",
      code: "not_found",
      error: "The page was answered with 404.",
    },
  ],
  robotsBlocked: ["https://example.com/private"],
};
const cancelled = { success: true, status: "cancelled" };
const video = {
  id: "video_68fa2c1b9d",
  object: "video",
  status: "queued",
  model: "sora-2",
  progress: 0,
  created_at: AT,
  completed_at: null,
  expires_at: null,
  prompt: "waves at a lighthouse",
  seconds: "4",
  size: "1280x720",
  remixed_from_video_id: null,
  error: null,
};
const file = {
  id: "file-9kQzVd3mUe",
  object: "file",
  bytes: 48_213,
  created_at: AT,
  filename: "report.pdf",
  purpose: "user_data",
};
const files = { object: "list", data: [file], first_id: file.id, last_id: file.id, has_more: false };
const deletedFile = { id: file.id, object: "file", deleted: true };

const batch = {
  id: "batch_0mwzu8f4kp83a9bftggow46f7",
  object: "batch",
  endpoint: "/v1/chat/completions",
  errors: null,
  input_file_id: "file-batch-0mwzu8f3ap83a9bftggow46f7",
  completion_window: "24h",
  status: "in_progress",
  output_file_id: null,
  error_file_id: null,
  created_at: AT,
  in_progress_at: AT + 1,
  expires_at: AT + 86_400,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  request_counts: { total: 100, completed: 95, failed: 5 },
  usage: { input_tokens: 1_140, output_tokens: 285, total_tokens: 1_425 },
  metadata: null,
};
const messageBatch = {
  id: "msgbatch_0mwzu8f4kp83a9bftggow46f7",
  type: "message_batch",
  processing_status: "in_progress",
  request_counts: { processing: 1, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  created_at: "2026-11-28T12:00:00Z",
  expires_at: "2026-11-29T12:00:00Z",
  ended_at: null,
  cancel_initiated_at: null,
  archived_at: null,
  results_url: null,
};

const conversation = {
  id: "conv_5d1c07e2a9",
  object: "conversation",
  created_at: AT,
  metadata: { topic: "greetings" },
};

/** By operation. */
export const sampleAnswers: Readonly<Record<string, unknown>> = {
  createChatCompletion: {
    id: "chatcmpl-mpVB5QF403qblw17",
    object: "chat.completion",
    created: AT,
    model: "gpt-5-mini",
    choices: [{ index: 0, message: { role: "assistant", content: text, refusal: null }, finish_reason: "stop" }],
    usage: chatUsage,
  },
  createMessage: {
    id: "msg_01SRMrjCUz0FuCegGAkGCNaB",
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 3 },
  },
  countMessageTokens: { input_tokens: 12 },
  createCompletion: {
    id: "cmpl-9kQzVd3mUe",
    object: "text_completion",
    created: AT,
    model: "gpt-3.5-turbo-instruct",
    choices: [{ index: 0, text: " there was a lighthouse", logprobs: null, finish_reason: "stop" }],
    usage: chatUsage,
  },
  createResponse: response,
  getResponse: response,
  cancelResponse: { ...response, background: true, status: "cancelled", output: [] },
  listInputItems: itemList,
  compactResponse: {
    id: "resp_5d1c07e2a9",
    object: "response.compaction",
    created_at: AT,
    output: [item, { id: "cmp_68fa2c1b9d", type: "compaction", encrypted_content: "gAAAAABpK…" }],
    usage: responseUsage,
  },
  countResponseTokens: { object: "response.input_tokens", input_tokens: 12 },
  generateContent: generated,
  streamGenerateContent: generated,
  countTokens: { totalTokens: 12 },
  embedContent: { embedding: { values: [0.0023, -0.0091, 0.0154] } },
  batchEmbedContents: { embeddings: [{ values: [0.0023, -0.0091, 0.0154] }, { values: [0.0107, 0.0042, -0.0068] }] },
  listConversationItems: itemList,
  createConversationItems: itemList,
  getConversationItem: item,
  createEmbedding: {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.0023, -0.0091, 0.0154] }],
    model: "text-embedding-3-small",
    usage: { prompt_tokens: 4, total_tokens: 4 },
  },
  createModeration: {
    id: "modr-7d41f0",
    model: "omni-moderation-latest",
    results: [
      {
        flagged: false,
        categories: { violence: false, hate: false },
        category_scores: { violence: 0.0004, hate: 0.0001 },
      },
    ],
  },
  rerank: ranked,
  rerankV2: ranked,
  createImage: image,
  createImageEdit: image,
  createTranscription: transcript,
  createTranslation: transcript,
  listModels: { object: "list", data: [model] },
  getModel: model,
  listGoogleModels: { models: [googleModel] },
  getGoogleModel: googleModel,
  listVideos: { object: "list", data: [video], first_id: video.id, last_id: video.id, has_more: false },
  createVideo: video,
  createVideoGeneration: video,
  createVideoEdit: video,
  createVideoExtension: video,
  getVideo: {
    ...video,
    status: "completed",
    progress: 100,
    completed_at: AT + 74,
    expires_at: AT + 86_400,
    output: [{ type: "video", url: "https://tollgate.example.com/v1/videos/video_68fa2c1b9d/content" }],
  },
  deleteVideo: { id: video.id, object: "video.deleted", deleted: true },
  createVideoTask: { id: "cgt-20261128-7d41f0" },
  listVideoTasks: { total: 1, items: [{ id: "cgt-20261128-7d41f0", status: "running" }] },
  getVideoTask: { id: "cgt-20261128-7d41f0", status: "running" },
  createFile: file,
  listFiles: files,
  getFile: file,
  deleteFile: deletedFile,
  createProviderFile: file,
  listProviderFiles: files,
  getProviderFile: file,
  deleteProviderFile: deletedFile,
  createBatch: batch,
  listBatches: { object: "list", data: [batch], first_id: batch.id, last_id: batch.id, has_more: false },
  getBatch: batch,
  cancelBatch: { ...batch, status: "cancelling", cancelling_at: AT + 60 },
  createMessageBatch: messageBatch,
  listMessageBatches: { data: [messageBatch], first_id: messageBatch.id, last_id: messageBatch.id, has_more: false },
  getMessageBatch: messageBatch,
  cancelMessageBatch: { ...messageBatch, processing_status: "canceling", cancel_initiated_at: "2026-11-28T12:01:00Z" },
  deleteMessageBatch: { id: messageBatch.id, type: "message_batch_deleted" },
  search: {
    success: true,
    data: { web: [{ url: "https://example.com/", title: "Tides", description: "The tides at the harbour." }] },
    warning: null,
    creditsUsed: 2,
    id: REQUEST,
  },
  scrape: { success: true, data: page },
  map: {
    success: true,
    links: [{ url: "https://example.com/", title: "Tides" }, { url: "https://example.com/about" }],
  },
  crawl: { success: true, id: crawlId, url: `https://tollgate.example.com/v2/crawl/${crawlId}` },
  batchScrape: {
    success: true,
    id: crawlId,
    url: `https://tollgate.example.com/v2/batch/scrape/${crawlId}`,
    invalidURLs: [],
  },
  getCrawl: status,
  getBatchScrape: status,
  getCrawlErrors: pageErrors,
  getBatchScrapeErrors: pageErrors,
  cancelCrawl: cancelled,
  cancelBatchScrape: cancelled,
  listActiveCrawls: {
    success: true,
    crawls: [
      {
        id: crawlId,
        teamId: "ada",
        url: "https://example.com/",
        status: "scraping",
        created_at: "2026-11-28T09:30:00.000Z",
        options: {},
      },
    ],
  },
  createConversation: conversation,
  getConversation: conversation,
  updateConversation: conversation,
  deleteConversation: { id: "conv_5d1c07e2a9", object: "conversation.deleted", deleted: true },
  callTool: { content: [{ type: "text", text: "Tides: https://example.com/" }], isError: false },
  createRealtimeClientSecret: {
    value: "ek_68fa2c1b9d",
    expires_at: AT + 600,
    session: { type: "realtime", model: id, audio: { output: { voice: "alloy" } } },
  },
  deleteResponse: { id: response.id, object: "response", deleted: true },
  deleteConversationItem: conversation,
  listTools: {
    object: "list",
    data: [
      {
        name: "web_search",
        title: "Web search",
        description: "Searches the web.",
        inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
        annotations: { readOnlyHint: true },
      },
    ],
  },
  deleteOrganisation: { id: "org_5f0h2m", deleted: true },
  deleteUser: { id: "usr_8d2nq7", deleted: true },
  deleteProject: { id: "prj_x41k9c", deleted: true },
  deleteModelGroup: { id: "grp_k2x5wd", deleted: true },
  deleteBudget: { id: "bud_c7v0t3", deleted: true },
  getReadiness: { status: "ready" },
  getHealth: { status: "ok", version: "0.2.0", sandbox: [] },
  getOpenApi: { openapi: "3.1.0", info: { title: "Tollgate", version: "0.2.0" }, paths: {} },
};
