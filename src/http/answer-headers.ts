/** The headers of the gateway's own in answers of paid calls, for the OpenAPI document. */

interface DocumentedHeader {
  description: string;
  schema: { type: "string" | "integer" };
  /** Whether errors may have it too. */
  inErrors: boolean;
}

const words = (description: string, inErrors = false): DocumentedHeader => ({
  description,
  schema: { type: "string" },
  inErrors,
});
const count = (description: string, inErrors = false): DocumentedHeader => ({
  ...words(description, inErrors),
  schema: { type: "integer" },
});

/** None of them is in every answer. */
export const answerHeaders: Readonly<Record<string, DocumentedHeader>> = {
  "x-tollgate-credits": words("The credits that the call cost, as a decimal; absent from streams.", true),
  "x-tollgate-provider": words("The prefix of the provider that was asked last.", true),
  "x-tollgate-model": words("The id of the model that was asked last.", true),
  "x-tollgate-attempts": count("The requests to providers.", true),
  "x-tollgate-failures": words(
    "Of an error: the class of each request to a provider that failed, in their order, comma separated.",
    true,
  ),
  "x-tollgate-changes": words("The reasons why the request was changed for its model, comma separated.", true),
  "x-tollgate-dropped-tools": words("The hosted tools that the provider did not get, comma separated.", true),
  "x-tollgate-dropped-tags": words("The tags in headers that the organisation does not declare, comma separated."),
  "x-tollgate-max-output-tokens": count("The limit of the output that the gateway has set.", true),
  "x-tollgate-max-tool-calls": count("The limit of the runs of hosted tools that the gateway has set.", true),
  "x-tollgate-sandbox": words("`true` if a simulator has answered.", true),
  "x-tollgate-error-source": words("`upstream` for an error of the provider.", true),
  "x-tollgate-first-request-id": words("The id of the call whose answer is repeated for its retry key."),
  "x-tollgate-first-credits": words("The credits that the first call has cost; absent from streams."),
  "x-upstream-request-id": words("The provider's own id of the request.", true),
};
