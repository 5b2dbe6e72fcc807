/** The schemas that tests validate against, by the owner of their document. Their references are included. */
export const roots = {
  openai: [
    "CreateChatCompletionRequest",
    "CreateChatCompletionResponse",
    "CreateChatCompletionStreamResponse",
    "CreateEmbeddingResponse",
    "CreateImageRequest",
    "CreateResponse",
    "CreateSpeechResponseStreamEvent",
    "CreateTranscriptionResponseDiarizedJson",
    "CreateTranscriptionResponseJson",
    "CreateTranscriptionResponseStreamEvent",
    "CreateTranscriptionResponseVerboseJson",
    "CreateTranslationResponseVerboseJson",
    "EditImageBodyJsonParam",
    "ErrorResponse",
    "ImageEditStreamEvent",
    "ImageGenStreamEvent",
    "ImagesResponse",
    "Response",
    "ResponseItemList",
    "ResponseStreamEvent",
  ],
  anthropic: ["CountMessageTokensResponse", "CreateMessageParams", "ErrorResponse", "Message", "MessageStreamEvent"],
  firecrawl: [
    "BatchScrapeResponseObj",
    "BatchScrapeStatusResponseObj",
    "CrawlErrorsResponseObj",
    "CrawlResponse",
    "CrawlStatusResponseObj",
    "GET /crawl/active",
    "GET /team/credit-usage",
    "GET /team/queue-status",
    "MapResponse",
    "POST /search",
    "ScrapeResponse",
  ],
  google: ["BatchEmbedContentsResponse", "EmbedContentResponse", "GenerateContentResponse"],
  mistral: [
    "ChatCompletionResponse",
    "CompletionChunk",
    "SpeechResponse",
    "SpeechStreamEvents",
    "TranscriptionResponse",
    "TranscriptionStreamEvents",
  ],
  moonshot: ["ChatCompletionChunk", "ChatCompletionResponse", "ErrorResponse"],
  xai: ["ImageResponse"],
} as const satisfies Record<string, readonly string[]>;

export function isOwner(name: string | undefined): name is keyof typeof roots {
  return name !== undefined && Object.hasOwn(roots, name);
}
