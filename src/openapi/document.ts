import { OpenAPIHono } from "@hono/zod-openapi";
import { chatCompletionsContract } from "../http/chat-completions.contract.ts";
import { embeddingsContract } from "../http/embeddings.contract.ts";
import { countTokensContract } from "../http/count-tokens.contract.ts";
import { generationContract } from "../http/generation.contract.ts";
import { healthContract } from "../http/health.contract.ts";
import { imageEditsContract } from "../http/image-edits.contract.ts";
import { imageGenerationsContract } from "../http/image-generations.contract.ts";
import { messagesContract } from "../http/messages.contract.ts";
import { modelsContract } from "../http/models.contract.ts";
import { openapiContract } from "../http/openapi.contract.ts";
import { deleteResponseContract, getResponseContract, listInputItemsContract } from "../http/response.contract.ts";
import { responsesContract } from "../http/responses.contract.ts";
import { speechContract } from "../http/speech.contract.ts";
import { transcriptionsContract } from "../http/transcriptions.contract.ts";
import { translationsContract } from "../http/translations.contract.ts";
import { usageContract } from "../http/usage.contract.ts";
import { userInfoContract } from "../http/user-info.contract.ts";

/** Every route's declaration, in the order of the document. */
const contracts = [
  openapiContract,
  healthContract,
  modelsContract,
  userInfoContract,
  usageContract,
  generationContract,
  chatCompletionsContract,
  messagesContract,
  countTokensContract,
  responsesContract,
  getResponseContract,
  deleteResponseContract,
  listInputItemsContract,
  embeddingsContract,
  imageGenerationsContract,
  imageEditsContract,
  speechContract,
  transcriptionsContract,
  translationsContract,
];

export interface DocumentOptions {
  /** Where callers reach the service. */
  publicUrl: string;
  /** A second address, plain HTTP. */
  betaUrl: string;
}

/** The version of the published description; the contract names it. */
const DOCUMENT_VERSION = "0.1.0";

/** The OpenAPI 3.1 document, from the declarations that also make the router. */
export function openapiDocument({ publicUrl, betaUrl }: DocumentOptions): object {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "BearerAuth", { type: "http", scheme: "bearer" });
  for (const contract of contracts) app.openAPIRegistry.registerPath(contract);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version: DOCUMENT_VERSION,
      description: "One HTTP gateway in front of every AI provider.",
    },
    servers: [
      { url: publicUrl, description: "Production" },
      { url: betaUrl, description: "Beta, plain HTTP" },
    ],
    security: [{ BearerAuth: [] }],
  });
}
