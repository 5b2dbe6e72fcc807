/** The requests for a provider's own batches. They are free: what a batch costs is charged by its lines. */
import type { OutgoingForm } from "../../bodies/index.ts";
import { GatewayError, type JsonObject, limits, parseObject } from "../../core/index.ts";
import type { BatchApi, BatchApiRequest, BatchApiResult, UpstreamBatch } from "../../providers/index.ts";
import type { UpstreamRoute } from "../../routing/index.ts";
import {
  type AskDependencies,
  askForReply,
  downloadUpstream,
  type FailedReply,
  type FreeRequest,
  type UpstreamBody,
  type WholeReply,
} from "../../sending/index.ts";
import type { BatchSlice } from "../store.ts";

/** Pages of a provider's batches in which one is looked for. */
const PAGES_MAX = 10;

/** The providers with batches, and how they are asked. */
export interface BatchProviders {
  asking: AskDependencies;
  /** Undefined if the provider is gone, or has no batches. */
  find: (prefix: string) => BatchProvider | undefined;
}

export interface BatchProvider {
  route: UpstreamRoute;
  api: BatchApi;
}

/** The answer of a provider about a batch. */
export type AskedBatch =
  | { kind: "batch"; batch: UpstreamBatch; answer: JsonObject; keyId: string }
  /** The request was refused: nothing was made. */
  | { kind: "refused"; status: number };

const NOT_FOUND = 404;
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

export class UpstreamBatches {
  readonly #asking: AskDependencies;
  readonly #provider: BatchProvider;
  readonly #client: { headers: Headers; signal: AbortSignal };

  constructor(asking: AskDependencies, provider: BatchProvider, client: { headers: Headers; signal: AbortSignal }) {
    this.#asking = asking;
    this.#provider = provider;
    this.#client = client;
  }

  get api(): BatchApi {
    return this.#provider.api;
  }

  /** Uploads lines as a file. Resolves with its id, or the status of the refusal. Rejects as `askForReply` does. */
  async upload(lines: readonly string[]): Promise<{ fileId: string; keyId: string } | { status: number }> {
    const body = await formOf(this.api.upload ?? {}, lines);
    const reply = await this.#ask({ path: "/files", method: "POST" }, { body, repeats: "unless-done" });
    if (reply.kind === "failed") return { status: reply.status };
    const { id } = reply.answers[0].answer;
    if (typeof id !== "string" || id === "") throw unusable("The upload's answer names no file.");
    return { fileId: id, keyId: reply.keyId };
  }

  /** Creates the batch of a slice. Rejects with an error that loses the answer if the provider may have made it all the same. */
  async create(slice: BatchSlice, sent: { lines: readonly string[]; fileId: string | undefined }): Promise<AskedBatch> {
    const request = this.api.create({ marker: slice.id, model: slice.model, path: slice.path, ...sent });
    return this.#askAbout(request, { keyId: slice.keyId, repeats: "unless-accepted" });
  }

  get(slice: BatchSlice): Promise<AskedBatch> {
    return this.#askAbout(this.api.get(slice.upstreamId ?? ""), { keyId: slice.keyId, repeats: "freely" });
  }

  /** Resolves with whether nothing is left to cancel; one that has ended cannot be cancelled, which is no failure. */
  async cancel({ upstreamId, keyId }: BatchSlice): Promise<boolean> {
    const reply = await this.#ask(this.api.cancel(upstreamId ?? ""), { pinnedKeyId: keyId, repeats: "freely" });
    return reply.kind !== "failed" || !isBusy(reply.status);
  }

  /** The batch of a slice whose creation was not answered; undefined if the provider does not know it, or keeps no marker. */
  async find({ id, keyId }: BatchSlice): Promise<{ batch: UpstreamBatch; keyId: string } | undefined> {
    const { list } = this.api;
    if (list === undefined) return undefined;
    let request: BatchApiRequest | undefined = list.request;
    for (let page = 0; request !== undefined && page < PAGES_MAX; page += 1) {
      const reply = await this.#ask(request, { pinnedKeyId: keyId, repeats: "freely" });
      if (reply.kind === "failed") throw unusable(`The provider's batches cannot be listed: ${reply.status}.`);
      const found: ReturnType<typeof list.read> = list.read(reply.answers[0].answer);
      const batch = found.items.find(({ marker }) => marker === id);
      if (batch !== undefined) return { batch, keyId: keyId ?? reply.keyId };
      request = found.next;
    }
    return undefined;
  }

  /** The results of an ended batch, in the provider's order. Rejects if they cannot be read now. */
  async *results(answer: JsonObject, slice: BatchSlice): AsyncGenerator<BatchApiResult, void, undefined> {
    for (const source of this.api.results(answer)) {
      for await (const result of this.#resultsIn(source, answer, slice)) {
        const known = this.api.readResult(result);
        if (known !== undefined) yield known;
      }
    }
  }

  #resultsIn(
    source: ReturnType<BatchApi["results"]>[number],
    answer: JsonObject,
    { upstreamId = "", keyId }: BatchSlice,
  ): AsyncIterable<JsonObject> | Iterable<JsonObject> {
    switch (source.format) {
      case "answer":
        return this.api.readPage?.(answer, this.api.get(upstreamId)).items ?? [];
      case "page":
        return this.#pages(source.request, keyId);
      default:
        return this.#lines(source.request, keyId);
    }
  }

  async *#pages(first: BatchApiRequest, keyId: string | undefined): AsyncGenerator<JsonObject, void, undefined> {
    let request: BatchApiRequest | undefined = first;
    while (request !== undefined) {
      const reply = await this.#ask(request, { pinnedKeyId: keyId, repeats: "freely" });
      if (reply.kind === "failed") throw unusable(`The results cannot be read: ${reply.status}.`);
      const page: ResultPage | undefined = this.api.readPage?.(reply.answers[0].answer, request);
      yield* page?.items ?? [];
      request = page?.next;
    }
  }

  async *#lines({ path }: BatchApiRequest, keyId: string | undefined): AsyncGenerator<JsonObject, void, undefined> {
    const { route } = this.#provider;
    const target = { route, operation };
    const question: FreeRequest = { target, method: "GET", subpath: path, pinnedKeyId: keyId };
    const { status, body } = await downloadUpstream(this.#asking, this.#client, question);
    if (status === NOT_FOUND) return;
    if (status >= 300 || body === null) throw unusable(`The results cannot be read: ${status}.`);
    for await (const text of textLines(body)) {
      const line = parseObject(text);
      if (line !== undefined) yield line;
    }
  }

  async #askAbout(
    request: BatchApiRequest,
    { keyId, repeats }: { keyId: string | undefined; repeats: "freely" | "unless-accepted" },
  ): Promise<AskedBatch> {
    const reply = await this.#ask(request, { pinnedKeyId: keyId, repeats });
    if (reply.kind === "failed") return { kind: "refused", status: reply.status };
    const { answer } = reply.answers[0];
    const batch = this.api.read(answer);
    if (batch === undefined) throw unusable("The provider's answer is no batch.");
    return { kind: "batch", batch, answer, keyId: reply.keyId };
  }

  #ask(
    { path, method = "GET", body }: BatchApiRequest,
    asked: Pick<FreeRequest, "pinnedKeyId" | "repeats"> & { body?: UpstreamBody },
  ): Promise<WholeReply | FailedReply> {
    const { route, api } = this.#provider;
    const forwardedHeaders = api.forwardedHeaders ?? [];
    return askForReply(this.#asking, this.#client, {
      target: { route, operation: { ...operation, forwardedHeaders } },
      ...(method === "GET" && { method }),
      subpath: path,
      ...(body !== undefined && { body }),
      ...asked,
    });
  }
}

/** Whether a refusal with this status is none of the request itself. */
export function isBusy(status: number): boolean {
  return status >= 500 || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
}

type ResultPage = ReturnType<NonNullable<BatchApi["readPage"]>>;

/** Its path is empty: those of the requests are the rest of the address. */
const operation: FreeRequest["target"]["operation"] = {
  path: "",
  edits: () => [],
  readUsage: () => undefined,
  isFailure: () => false,
};

function unusable(message: string): GatewayError {
  return new GatewayError("upstream_invalid_answer", message);
}

async function formOf(fields: Readonly<Record<string, string>>, lines: readonly string[]): Promise<OutgoingForm> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([lines.map((line) => `${line}\n`).join("")], { type: "application/jsonl" }), "lines.jsonl");
  const encoded = await new Response(form).blob();
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  // With the boundary.
  return { contentType: encoded.type, length: bytes.byteLength, open: () => bytes };
}

/** The lines of a text that arrives in pieces. Rejects with `upstream_invalid_answer` for one that is too long. */
async function* textLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > limits.upstreamAnswerBytesMax) throw unusable("A line of the results is too long.");
    yield* parts;
  }
  yield rest + decoder.decode();
}
