/** An HTTP API as a server of tools, after its OpenAPI document: it takes the requests that an MCP server would. */
import { type AskUpstream, type JsonObject, listOf, objectOf, parseObject, stringOf } from "../../core/index.ts";
import { rpcCodes } from "../../mcp/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import { collectBody } from "../../upstream/index.ts";
import { askServer, tooLarge } from "../client/ask-server.ts";
import type { McpRequest } from "../client/session.ts";
import { ServerError } from "../client/server-answer.ts";
import { type ApiOperation, operationsOf } from "./operations.ts";

const HEADER_VALUE = /^[\x20-\x7e]*$/;

export interface OpenApiOptions {
  name: string;
  /** The base of all paths. Addresses in the document do not count. */
  url: string;
  document: JsonObject;
  /** The operator's credentials. */
  headers: Readonly<Record<string, string>>;
  ask: AskUpstream;
  ticker: Ticker;
}

export class OpenApiServer {
  readonly #options: OpenApiOptions;
  readonly #operations: ReadonlyMap<string, ApiOperation>;

  constructor(options: OpenApiOptions) {
    this.#options = options;
    this.#operations = operationsOf(options.document);
  }

  /** Lists the operations, or calls one. Rejects as `McpClient.request` does. */
  async request(request: McpRequest): Promise<JsonObject> {
    if (request.method === "tools/list") {
      return { tools: [...this.#operations.values()].map(({ definition }) => definition) };
    }
    const operation = this.#operations.get(stringOf(request.params["name"]));
    if (request.method !== "tools/call" || operation === undefined) {
      throw new ServerError(rpcCodes.methodNotFound, "The API has no such operation.");
    }
    return this.#call(operation, objectOf(request.params["arguments"]) ?? {}, request);
  }

  async #call(
    operation: ApiOperation,
    given: JsonObject,
    { timeoutMs, bytesMax, signal, onSent }: McpRequest,
  ): Promise<JsonObject> {
    const { ask, ticker, name } = this.#options;
    const sent = { method: operation.method, ...this.#requestOf(operation, given) };
    return askServer({ name, ticker, timeoutMs, signal }, async (abort) => {
      const { status, headers, body } = await ask({ ...sent, signal: abort, onSent });
      const collected = await collectBody(body, bytesMax);
      if ("exceeded" in collected) throw tooLarge(bytesMax);
      return resultOf(status, headers.get("content-type") ?? "", collected.bytes);
    });
  }

  #requestOf(operation: ApiOperation, given: JsonObject): { url: string; headers: Headers; body: string | undefined } {
    const headers = new Headers({ accept: "application/json, text/*;q=0.9, */*;q=0.5", ...this.#options.headers });
    let { path } = operation;
    const query = new URLSearchParams();
    for (const { argument, name, place } of operation.parameters) {
      const value = given[argument];
      if (value === undefined || value === null) {
        if (place === "path") throw invalid(`${argument} is missing.`);
      } else if (place === "path") path = path.replaceAll(`{${name}}`, () => segmentOf(argument, textOf(value)));
      else if (place === "query") for (const each of listOf(value) ?? [value]) query.append(name, textOf(each));
      else setHeader(headers, name, textOf(value));
    }
    const { bodyType } = operation;
    const body = bodyType === undefined || given["body"] === undefined ? undefined : encoded(bodyType, given["body"]);
    if (body !== undefined && bodyType !== undefined) headers.set("content-type", bodyType);
    const search = query.size === 0 ? "" : `?${query.toString()}`;
    return { url: `${this.#options.url}${path}${search}`, headers, body };
  }
}

function invalid(message: string): ServerError {
  return new ServerError(rpcCodes.invalidParams, message);
}

/** One part of a path. Dots alone would lead to another path, also if they are encoded. */
function segmentOf(argument: string, text: string): string {
  if (text === "" || /^\.{1,2}$/.test(text)) throw invalid(`${argument} is no part of a path.`);
  // A half of a pair of surrogates has no encoding.
  return encodeURIComponent(text.toWellFormed());
}

function setHeader(headers: Headers, name: string, value: string): void {
  // Those of the operator stay.
  if (headers.has(name) && name.toLowerCase() !== "accept") return;
  if (!HEADER_VALUE.test(value)) throw invalid(`${name} is not valid as a header.`);
  headers.set(name, value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function encoded(type: NonNullable<ApiOperation["bodyType"]>, body: unknown): string {
  if (type === "application/json") return JSON.stringify(body);
  const form = new URLSearchParams();
  for (const [key, value] of Object.entries(objectOf(body) ?? {})) form.append(key, textOf(value));
  return form.toString();
}

/** A status of failure or a redirect, which is not followed, is an error that the model reads. */
function resultOf(status: number, type: string, bytes: Buffer): JsonObject {
  const isError = status >= 300;
  const media = /^(image|audio)\/[\w.+-]+/.exec(type);
  if (media !== null && !isError) {
    return { content: [{ type: media[1], data: bytes.toString("base64"), mimeType: media[0] }] };
  }
  const isText =
    type === "" || /^(?:text\/|application\/(?:[\w.+-]*json|[\w.+-]*xml|x-www-form-urlencoded))/.test(type);
  const text = isText ? bytes.toString() : `${bytes.length} bytes of ${type}`;
  if (isError) return { content: [{ type: "text", text: `HTTP ${status}\n${text}`.trim() }], isError: true };
  const data = /json/.test(type) ? parseObject(text) : undefined;
  return { content: [{ type: "text", text }], ...(data !== undefined && { structuredContent: data }) };
}
