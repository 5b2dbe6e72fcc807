import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { errorBody, GatewayError } from "../core/index.ts";
import { type Feature, features, routeRoles } from "../http/index.ts";
import { openapiDocument } from "./document.ts";
import { contractRoutes } from "./__fixtures__/contract-routes.ts";
import { publishedDocument } from "./published-document.ts";

interface DocumentedAnswer {
  description: string;
  headers: object;
  content?: Record<string, { schema: object }>;
  links?: Record<string, { operationId: string }>;
}

interface DocumentedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  parameters?: { name: string; schema: { enum?: string[] } }[];
  responses: Record<string, DocumentedAnswer>;
}

interface Documented {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  security: object[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { securitySchemes: Record<string, object>; schemas: Record<string, object> };
}

const servers = { publicUrl: "https://ai.test", betaUrl: "http://beta.ai.test" };
const document = openapiDocument({ features, ...servers }) as Documented;

/** The media type of a success there. */
function typeOf(path: string): string {
  if (path.startsWith("/v2/screenshots/")) return "image/png";
  if (path === "/admin/v1/exports") return "text/csv";
  if (!path.endsWith("/content")) return "application/json";
  return path.startsWith("/v1/videos/") ? "video/mp4" : "application/octet-stream";
}

/** The schema of an error there. */
function errorNameOf(path: string): string {
  if (path.startsWith("/v2/") && path !== "/v2/rerank") return "FirecrawlError";
  if (path.startsWith("/v1beta/")) return "GoogleError";
  return path.startsWith("/v1/messages") ? "AnthropicError" : "Error";
}

/** The meaning of 404 there. */
function notFound(path: string): string {
  if (path.startsWith("/v1/generations/")) {
    return "No call of the caller's user has this id, or it has not ended yet.";
  }
  if (path === "/v1/videos/{video_id}" || path === "/v1/videos/{video_id}/content") {
    return "The caller has no such video job, or its provider has no such operation.";
  }
  if (path.startsWith("/v1/tools/")) return "The caller has no such tool.";
  if (path.startsWith("/.well-known/")) return "There is no such resource.";
  if (path.endsWith("/models/{model_id}")) return "There is no such model, or the token may not use it.";
  if (path.startsWith("/v1/responses/{")) return "The caller has no such response.";
  if (path.startsWith("/v1/conversations/{")) return "The caller has no such conversation or item.";
  if (path.startsWith("/v2/screenshots/")) return "There is no such screenshot, or its day is over.";
  if (path.startsWith("/v2/") && path.includes("{id}"))
    return "The caller has no such job, or its results have expired.";
  if (path.includes("/tasks")) return "The caller has no such video job, or the provider has no such route.";
  if (path.includes("/files")) return "The caller has no such file, or the provider has no such route.";
  return "Unsupported gateway route, or the upstream resource was not found.";
}

function operationOf(method: string, path: string): DocumentedOperation {
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`no ${method} ${path}`);
  return operation;
}

describe("the document", () => {
  test("is published with the addresses of the service", async () => {
    expect(JSON.parse(await publishedDocument({ ...servers, videoProviders: [] })())).toEqual(
      JSON.parse(JSON.stringify(document)),
    );
  });

  test("lists the prefixes of OpenAI's and xAI's kind as providers of videos, at those routes alone", async () => {
    const providersIn = (text: string): unknown[] => {
      const { paths } = JSON.parse(text) as Documented;
      return Object.entries(paths).flatMap(([path, methods]) =>
        Object.values(methods).flatMap(({ parameters = [] }) =>
          parameters.flatMap(({ name, schema }) => (name === "provider" ? [[path, schema?.enum]] : [])),
        ),
      );
    };
    const served = providersIn(await publishedDocument({ ...servers, videoProviders: ["provider_a", "provider_c"] })());
    expect(served.length).toBeGreaterThan(8);
    for (const each of served) {
      const [path, prefixes] = each as [string, unknown];
      expect([path, prefixes]).toEqual([
        path,
        path.startsWith("/v1/videos") ? ["provider_a", "provider_c"] : undefined,
      ]);
    }
    const written = providersIn(JSON.stringify(document)).filter((each) => (each as unknown[])[1] !== undefined);
    expect(written.map((each) => (each as unknown[])[1])).toEqual(written.map(() => ["openai", "xai"]));
    expect(written).toHaveLength(4);
  });

  test("is OpenAPI 3.1.0 of version 0.1.0", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("0.1.0");
  });

  test("declares two servers: production, and a beta over plain HTTP", () => {
    expect(document.servers.map(({ url }) => url)).toEqual(["https://ai.test", "http://beta.ai.test"]);
  });

  test("asks for a bearer token everywhere", () => {
    expect(document.components.securitySchemes).toEqual({ BearerAuth: { type: "http", scheme: "bearer" } });
    expect(document.security).toEqual([{ BearerAuth: [] }]);
  });

  test("has these routes and no other", () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const beyond = [
      "post /v1/webhooks/secret",
      "post /admin/v1/session",
      "get /admin/v1/sign_in",
      "get /v1/alerts/channels",
      "post /v1/alerts/channels",
      "delete /v1/alerts/channels/{id}",
      "get /client-metadata.json",
      "get /v1/tools/connections",
      "post /v1/tools/connections",
      "delete /v1/tools/connections/{id}",
      "post /v1/batches",
      "get /v1/batches",
      "get /v1/batches/{batch_id}",
      "post /v1/batches/{batch_id}/cancel",
      "post /v1/messages/batches",
      "get /v1/messages/batches",
      "get /v1/messages/batches/{message_batch_id}",
      "post /v1/messages/batches/{message_batch_id}/cancel",
      "get /v1/messages/batches/{message_batch_id}/results",
      "delete /v1/messages/batches/{message_batch_id}",
      "post /v2/crawl/params-preview",
      "post /v2/extract",
      "get /v2/extract/{id}",
      "delete /v2/extract/{id}",
      "post /v2/parse",
      "get /v2/parse/formats",
      "get /v2/team/queue-status",
    ];
    const all = contractRoutes.map(([method, path]) => `${method} ${path}`).concat(beyond);
    expect(documented.toSorted()).toEqual([...all, ...Object.keys(routeRoles)].toSorted());
  });

  test("leaves out a route without a contract", () => {
    const undocumented: Feature = {
      routes: [
        {
          kind: "http",
          method: "get",
          path: "/v1/x",
          surface: "openai",
          access: "public",
          handle: () => new Response(),
        },
      ],
    };
    expect(openapiDocument({ features: [...features, undocumented], ...servers })).toEqual(document);
  });

  test("gives each operation its own id", () => {
    const ids = contractRoutes.map(([method, path]) => operationOf(method, path).operationId);
    expect(new Set(ids).size).toBe(contractRoutes.length);
  });

  test("uses the contract's tags", () => {
    const tags = new Set(contractRoutes.flatMap(([method, path]) => operationOf(method, path).tags));
    expect([...tags].toSorted()).toEqual([
      "Account",
      "Audio",
      "Chat",
      "Embeddings",
      "Files",
      "Images",
      "Models",
      "Moderations",
      "Platform",
      "Realtime",
      "Responses",
      "Search",
      "Tools",
      "Video",
    ]);
  });

  test("refers to nothing that it lacks", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    );
    expect(references.length).toBeGreaterThan(0);
    for (const name of references) expect(Object.keys(document.components.schemas)).toContain(name);
  });

  test("has a pattern of model ids that accepts them, as a regular expression of JSON Schema", () => {
    const schema = document.components.schemas["ChatCompletionRequest"] as {
      properties: { model: { pattern: string } };
    };
    const { pattern } = schema.properties.model;
    const isId = new RegExp(pattern, "u");
    expect(isId.test("openai/gpt-5-mini")).toBe(true);
    expect(isId.test("openai/日本 😀")).toBe(true);
    for (const control of ["\n", "\0", "\x7f", "\x85"]) expect(isId.test(`openai/${control}gpt`)).toBe(false);
  });

  test("declares the headers of paid calls, in answers and errors, and nowhere else", () => {
    const namesIn = (path: string, status: string, method = "post") =>
      Object.keys(operationOf(method, path).responses[status]?.headers ?? {});
    const own = ["x-tollgate-credits", "x-tollgate-changes", "x-tollgate-dropped-tools", "x-tollgate-max-tool-calls"];
    const [answered, failed] = ["200", "422"].map((status) => namesIn("/v1/messages", status));
    expect(own.filter((name) => answered?.includes(name) !== true)).toEqual([]);
    expect([...own, "x-tollgate-error-source"].filter((name) => failed?.includes(name) !== true)).toEqual([]);
    expect(failed).not.toContain("x-tollgate-first-request-id");
    expect(namesIn("/v1/models", "200", "get")).toEqual(["x-request-id"]);
    const { headers } = document.components as unknown as { headers: Record<string, object> };
    const named = [...JSON.stringify(document).matchAll(/#\/components\/headers\/([\w-]+)/g)].map(
      ([, name]) => name ?? "",
    );
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(headers).toSorted());
  });

  test("declares the id of the call in every answer, and links that lead to known operations", () => {
    const operations = contractRoutes.map(([method, path]) => operationOf(method, path));
    const ids = new Set(operations.map(({ operationId }) => operationId));
    const answers = operations.flatMap((operation) => Object.values(operation.responses));
    for (const { headers } of answers)
      expect(headers).toMatchObject({ "x-request-id": { $ref: "#/components/headers/RequestId" } });
    const targets = answers.flatMap(({ links = {} }) => Object.values(links).map(({ operationId }) => operationId));
    expect([...new Set(targets)].toSorted()).toEqual([
      "deleteFile",
      "deleteProviderFile",
      "deleteResponse",
      "downloadFile",
      "downloadProviderFile",
      "getFile",
      "getGeneration",
      "getProviderFile",
      "getResponse",
      "listInputItems",
    ]);
    for (const target of targets) expect(ids).toContain(target);
  });

  test("describes the error bodies that the gateway creates", () => {
    const error = new GatewayError("validation_failed", "no", { param: "model" });
    const ajv = new Ajv2020({ strict: false });
    for (const [name, surface] of [
      ["Error", "openai"],
      ["AnthropicError", "anthropic"],
    ] as const) {
      const accepts = ajv.compile(document.components.schemas[name] ?? {});
      expect(accepts(JSON.parse(JSON.stringify(errorBody(surface, error, "req_1"))))).toBe(true);
      expect(accepts({ success: false, error: "no" })).toBe(false);
    }
  });

  test("has a retry key exactly for the calls that may get 409", () => {
    for (const [method, path, statuses] of contractRoutes) {
      const names = operationOf(method, path).parameters?.map(({ name }) => name) ?? [];
      expect([path, names.includes("idempotency-key")]).toEqual([path, statuses.includes("409")]);
    }
  });

  test("has the limit of a call's cost, and its targets, for the calls that may have them", () => {
    const taking = (header: string): string[] =>
      contractRoutes
        .filter(([method, path]) => operationOf(method, path).parameters?.some(({ name }) => name === header) === true)
        .map(([, path]) => path);
    const bounded = taking("x-tollgate-max-credits");
    for (const path of ["/v1/chat/completions", "/v1/videos", "/v2/scrape"]) expect(bounded).toContain(path);
    for (const path of ["/v2/crawl", "/v2/batch/scrape", "/v1/files", "/v1/messages/count_tokens"])
      expect(bounded).not.toContain(path);
    const routed = taking("x-tollgate-fallback");
    for (const path of ["/v1/chat/completions", "/v1/embeddings", "/v1/images/edits", "/v1/videos"])
      expect(routed).toContain(path);
    for (const path of ["/v2/scrape", "/v1/files"]) expect(routed).not.toContain(path);
  });

  test("is JSON", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document as never);
  });
});

describe.each(contractRoutes)("%s %s", (method, path, statuses) => {
  const operation = operationOf(method, path);
  const isUpload = method === "post" && path.endsWith("/files");

  test("declares its statuses as the contract does", () => {
    expect(Object.keys(operation.responses).toSorted()).toEqual(statuses);
  });

  test("describes each of them, with a body", () => {
    const meanings: Record<string, string> = {
      "400": "Upstream error relayed.",
      "401": "Unauthorized.",
      "402": "Insufficient credits.",
      "404":
        isUpload || (method === "post" && (path.startsWith("/v2/") || path.endsWith("/tasks")))
          ? "Unsupported gateway route, or the upstream resource was not found."
          : notFound(path),
      "409": "The `idempotency-key` belongs to another body, or its first call is still running.",
      "413": "Request body exceeds the gateway body limit.",
      "101": "Switching protocols: the WebSocket is open.",
      "201": "Created.",
      "206": "A part.",
      "403": "The caller's quota of files is used up.",
      "422": "Validation error.",
      "426": "The request is no handshake of a WebSocket.",
      "429": "Too many sessions of the token are open, or a limit of the token is reached.",
      "502": "Upstream error.",
      "503": "The server is stopping, or its storage is unavailable.",
    };
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      expect(description).toBe(meanings[status] ?? "Success.");
      if (status === "101") {
        expect(content).toBeUndefined();
        continue;
      }
      expect(content?.[status.startsWith("2") ? typeOf(path) : "application/json"]?.schema).toBeDefined();
      const error = errorNameOf(path);
      if (Number(status) >= 400)
        expect(content?.["application/json"]?.schema).toEqual({ $ref: `#/components/schemas/${error}` });
    }
  });

  test("needs a token unless it is public", () => {
    const isPublic =
      ["/health", "/.well-known/", "/v2/screenshots/"].some((start) => path.startsWith(start)) ||
      path === "/openapi.json";
    expect(operation.security).toEqual((isPublic ? [] : undefined) as never);
  });
});

test.each(Object.keys(routeRoles))("%s needs a token with a role", (route) => {
  const [method = "", path = ""] = route.split(" ");
  const { tags, security, responses } = operationOf(method, path);
  expect([tags, security]).toEqual([["Admin"], undefined as never]);
  for (const status of ["200", "401", "403", "422"]) expect(responses).toHaveProperty(status);
  for (const [status, { content }] of Object.entries(responses))
    expect(content?.[status === "200" ? typeOf(path) : "application/json"]?.schema).toBeDefined();
  if (path.includes("{id}")) expect(responses).toHaveProperty("404");
});

describe.each([
  ["/v1/chat/completions", "ChatCompletionRequest", ["model", "messages"]],
  ["/v1/messages", "MessagesRequest", ["model", "max_tokens", "messages"]],
  ["/v1/responses", "ResponsesRequest", ["model", "input"]],
] as const)("POST %s", (path, name, required) => {
  const { requestBody, responses } = operationOf("post", path);

  test("requires a body, and permits unknown members", () => {
    expect(requestBody?.required).toBe(true);
    expect(requestBody?.content["application/json"]?.schema).toEqual({ $ref: `#/components/schemas/${name}` });
    const schema = document.components.schemas[name] as Record<string, unknown>;
    expect(schema["required"]).toEqual([...required] as never);
    expect(schema["additionalProperties"]).not.toBe(false);
    expect(Object.keys(schema["properties"] as object)).toContainValues([...required, "stream"]);
  });

  test("answers with JSON or with events", () => {
    expect(Object.keys(responses["200"]?.content ?? {})).toEqual(["application/json", "text/event-stream"]);
  });
});

/** The schemas accept the same bodies as the gateway. */
describe("the schema of", () => {
  const edit = { model: "openai/gpt-image-1", prompt: "a fox" };
  const form = { model: "openai/whisper-1", file: "RIFF" };
  const embedding = { model: "openai/text-embedding-3-small", input: "hi" };

  /** The schema of a parameter, or of a body by its media type. */
  const schemaOf = (method: string, path: string, name: string): object => {
    const { requestBody, parameters = [] } = operationOf(method, path);
    const schema = requestBody?.content[name]?.schema ?? parameters.find((each) => each.name === name)?.schema;
    if (schema === undefined) throw new Error(`no ${name} of ${method} ${path}`);
    return schema;
  };

  test.each<[string, string, string, unknown, boolean]>([
    ["get", "/v1/usage", "from", "2026-11-21", true],
    ["get", "/v1/usage", "from", "2026-11-21T08:00:00Z", true],
    ["get", "/v1/usage", "from", "1795430473", true],
    ["get", "/v1/usage", "from", "", false],
    ["get", "/v1/usage", "to", "yesterday", false],
    ["post", "/v1/messages", "idempotency-key", "a b", true],
    ["post", "/v1/messages", "idempotency-key", "ä", false],
    ["post", "/v1/messages", "idempotency-key", " a", false],
    ["post", "/v1/messages", "x-tollgate-max-credits", "0", true],
    ["post", "/v1/videos", "x-tollgate-max-credits", "0.000000001", true],
    ["post", "/v2/scrape", "x-tollgate-max-credits", "-1", false],
    ["post", "/v1/messages", "x-tollgate-max-credits", "1e3", false],
    ["post", "/v1/messages", "x-tollgate-max-credits", "0.0000000001", false],
    ["post", "/v1/messages", "x-tollgate-fallback", "none", true],
    ["post", "/v1/embeddings", "x-tollgate-fallback", "a/1,a/2, a/3 ,a/4,a/5", true],
    ["post", "/v1/messages", "x-tollgate-fallback", "a/1,a/2,a/3,a/4,a/5,a/6", false],
    ["post", "/v1/messages", "x-tollgate-fallback", "a/1,,a/2", false],
    ["post", "/v1/messages", "x-tollgate-fallback", "", false],
    ["post", "/v1/responses", "application/json", { ...embedding, background: false }, true],
    ["post", "/v1/responses", "application/json", { ...embedding, background: null }, true],
    ["post", "/v1/responses", "application/json", { ...embedding, background: true }, true],
    ["post", "/v1/embeddings", "application/json", { ...embedding, stream: null }, true],
    ["post", "/v1/embeddings", "application/json", { ...embedding, input: [2 ** 53] }, false],
    ["post", "/v1/embeddings", "application/json", { ...embedding, dimensions: 2 ** 53 }, false],
    ["post", "/v1/images/generations", "application/json", { ...edit, image: null }, true],
    ["post", "/v1/images/edits", "application/json", { ...edit, image: "https://a.test/b.png" }, true],
    ["post", "/v1/images/edits", "application/json", { ...edit, images: [{ file_id: "file-1" }], mask: null }, true],
    ["post", "/v1/images/edits", "application/json", edit, false],
    ["post", "/v1/images/edits", "application/json", { ...edit, image: "", images: [] }, false],
    ["post", "/v1/images/edits", "multipart/form-data", { ...edit, image: ["PNG"], n: 1 }, true],
    ["post", "/v1/images/edits", "multipart/form-data", { ...edit, image: ["PNG"], n: null }, false],
    ["post", "/v1/images/edits", "multipart/form-data", edit, false],
    ["post", "/v1/audio/transcriptions", "multipart/form-data", { ...form, "include[]": ["logprobs"], x: "y" }, true],
    ["post", "/v1/audio/transcriptions", "multipart/form-data", { ...form, include: ["logprobs"] }, false],
    ["post", "/v1/audio/transcriptions", "multipart/form-data", { model: form.model }, false],
    ["post", "/v1/audio/transcriptions", "multipart/form-data", { ...form, stream: "perhaps" }, false],
    ["post", "/v1/audio/transcriptions", "multipart/form-data", { ...form, temperature: 0.5 }, true],
    ["post", "/v1/audio/translations", "multipart/form-data", { ...form, "a\\": "b" }, false],
    ["post", "/v1/audio/translations", "multipart/form-data", { ...form, stream: "true" }, false],
  ])("%s %s %s applied to %j: %p", (method, path, name, value, accepted) => {
    const ajv = new Ajv2020({
      strict: false,
      validateSchema: false,
      formats: {
        binary: true,
        date: (text) => z.iso.date().safeParse(text).success,
        "date-time": (text) => z.iso.datetime({ offset: true }).safeParse(text).success,
      },
    });
    const { components } = document;
    const accepts = ajv.compile({ ...schemaOf(method, path, name), components });
    expect(accepts(value)).toBe(accepted);
  });
});
