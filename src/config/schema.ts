import { isTimezone, byPriceKey, describePrice, type PriceKey } from "../core/index.ts";
import { z } from "zod";
import { alerts } from "./alerts.ts";
import { auth, isTrustedOrigin } from "./auth.ts";
import { defaultProviders } from "./defaults.ts";

import { fromText } from "./values/from-text.ts";
import { mcp, refuseTakenNames } from "./mcp.ts";
import { otlp } from "./otlp.ts";
import { httpUrl, prefix, provider } from "./provider.ts";
import { retention } from "./retention.ts";
import { routing } from "./routing.ts";
import { byteSize as size, duration as time } from "./values/units.ts";
import { refuseUnknownTools, tools } from "./tools.ts";
import { web, webPrices } from "./web.ts";

/**
 * The schema of `tollgate.yaml`. Every object is strict: an unknown key is a mistake, and the startup stops with its
 * path. `tollgate.schema.json` is generated from this schema and stored in the repository for editors.
 */

// With `fromText` a default is written as `prefault`: otherwise the JSON Schema omits it.
const byteSize = fromText(size);
const duration = fromText(time);

/** As a browser sends it, without a path; browsers send `null` for pages without an origin, such as local files. */
const origin = z
  .string()
  .regex(
    /^(\*|null|[a-z*][a-z0-9+.*-]*:\/\/[^/?#\s@]+)$/,
    "an origin such as https://app.example.com, without a path, or *",
  );

const cors = z
  .strictObject({
    origins: z
      .array(origin)
      .describe("Origins whose pages may call: globs, where * alone is every origin. An empty list is none."),
    max_age: duration.prefault("10m").describe("How long a browser may remember that it may call."),
  })
  .describe("Calls from pages in browsers. Unset: none, but in the sandbox every origin's.");

const tls = z
  .strictObject({
    cert: z.string().min(1).describe("The certificate in PEM, followed by those of its chain."),
    key: z.string().min(1).describe("Its private key in PEM, without a password."),
  })
  .describe("Files for TLS, which are read again when they change. Unset: plain HTTP.");

const server = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1"),
    port: fromText(z.number().int().min(0).max(65_535)).prefault(8787),
    body_limit: byteSize.prefault("32MiB").describe("The largest request body; a call with a larger one gets 413."),
    memory_limit: byteSize
      .optional()
      .describe(
        "The memory of each process for bodies and answers over 1 MiB that are under way, and for what open WebSockets may have sent of a message, 16 MiB each; beyond it new ones get 503. Unset: a quarter of the machine's or its control group's, divided by the number of workers.",
      ),
    body_timeout: duration
      .prefault("2m")
      .describe("How long a request body may take to arrive; after that a call gets 408."),
    timezone: z
      .string()
      .refine(isTimezone, "write the name of a time zone, such as UTC or Europe/Berlin")
      .optional()
      .describe(
        "The time zone of the deployment: budgets restart at its midnight, and usage is summed by its days. Unset: that of the storage, UTC if it is new.",
      ),
    drain: duration
      .prefault("1m")
      .describe("How long open calls and sockets may still run while the server stops; then they are ended."),
    drain_delay: duration
      .optional()
      .describe(
        "How long a server that stops still takes calls, while GET /health/ready answers 503: until load balancers have noticed. Unset: not at all.",
      ),
    cors: cors.optional(),
    tls: tls.optional(),
    public_url: httpUrl.optional().describe("The address for callers, shown in the OpenAPI document."),
    beta_url: httpUrl.optional().describe("A second, plain HTTP address, shown in the OpenAPI document."),
  })
  .prefault({});

const upstream = z
  .strictObject({
    retries: fromText(z.number().int().min(0).max(10))
      .prefault(2)
      .describe("Further attempts while nothing has been received, as far as the work is not bought twice by that."),
    client: z
      .enum(["sockets", "fetch"])
      .prefault("sockets")
      .describe("Requests use the gateway's own connections, or Bun's fetch: slower, and without connect_timeout."),
    retry_after_max: duration.prefault("10s").describe("The longest retry-after that the gateway waits for."),
    connect_timeout: duration
      .prefault("10s")
      .describe("How long a connection to an upstream may take to open, including its TLS handshake."),
    first_byte_timeout: duration.prefault("10m").describe("How long an upstream may take until its answer begins."),
    idle_timeout: duration.prefault("5m").describe("The longest silence in the middle of an answer."),
    total_timeout: duration.prefault("30m").describe("How long an answer that is not streamed may take in total."),
  })
  .prefault({});

const rate = fromText(z.number().min(0).max(1e9));
const tokenCount = fromText(z.number().int().positive());

const variantPrices = z
  .record(z.string().min(1), rate)
  .refine((prices) => Object.keys(prices).length > 0, "it contains no price")
  .meta({ minProperties: 1 });

const variantPrice = z.union([rate, variantPrices], { error: "expected a price, or prices by size and quality" });

const singlePrice = (key: PriceKey) => rate.optional().describe(describePrice(key));

const unitPrices = byPriceKey({
  always: singlePrice,
  plain: singlePrice,
  variants: (key) => variantPrice.optional().describe(describePrice(key)),
});

const factor = fromText(z.number().min(1e-6).max(1e6));

const modelPrice = z
  .strictObject({
    ...unitPrices,
    service_tiers: z
      .record(z.string().min(1), z.union([factor, z.strictObject(unitPrices)]))
      .optional()
      .describe(
        "The prices at another speed or priority, by the provider's name of it (priority, flex, fast): a factor on all prices but those of hosted tools, or the prices that differ.",
      ),
    inference_geos: z
      .record(z.string().min(1), factor)
      .optional()
      .describe("Factors on all prices but those of hosted tools, by the place that the model runs in (us)."),
    batch_factor: factor
      .optional()
      .describe(
        "The factor on all prices but those of hosted tools for the lines of a batch that the provider runs itself; 0.5 without it.",
      ),
    context_window: tokenCount.optional().describe("Tokens that the model can read and write in one call."),
    max_output_tokens: tokenCount
      .optional()
      .describe("Tokens that the model can write in one answer; of an image model, for one image."),
  })
  .describe("Prices in credits; each key overrides the model's list price.");

/** Prices decide what callers pay, so they must come over an encrypted connection, or from this machine. */
function isCatalogLocation(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return true;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isTrustedOrigin(url) && url.username === "" && url.password === "";
}

const catalogLocation = z
  .string()
  .min(1)
  .refine(isCatalogLocation, "a file, or an https URL without user and password")
  .describe("A price catalog over the built-in one, model by model: a file, or an https URL.");

const pricing = z
  .strictObject({
    catalog: catalogLocation.optional(),
    catalog_refresh: duration.prefault("24h").describe("How often the catalog is read again."),
    markup: factor.prefault(1).describe("The factor on the prices of models that no key of markups matches."),
    markups: z
      .record(z.string(), factor)
      .prefault({})
      .describe(
        "Factors on prices by model id with prefix, with up to six decimals; * matches any characters, the last match counts. Work on the web is web/native or web/firecrawl.",
      ),
    models: z
      .record(z.string(), modelPrice)
      .prefault({})
      .describe("Prices by model id with prefix; * matches any characters."),
    unpriced: z
      .enum(["refuse", "free"])
      .default("refuse")
      .describe("Whether a model without a price is refused or free."),
    web: webPrices,
  })
  .prefault({});

const models = z
  .strictObject({
    aliases: z
      .record(
        z
          .string()
          .min(1)
          .regex(/^[^*]*\*?[^*]*$/, "a name with at most one *"),
        z
          .string()
          .min(1)
          .regex(/^[^*]*\*?[^*]*$/, "a model id with its prefix, or the name of a route, with at most one *"),
      )
      .optional()
      .describe(
        "Names for models, of callers that can't write a prefix: a name or a glob, and the model id, or the name of one of routing.routes. A * in the id stands for what the * of the glob matched; the first match counts. Unset: none, but in the sandbox claude-* for anthropic/claude-*.",
      ),
  })
  .prefault({});

const log = z
  .strictObject({
    level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
    format: z
      .enum(["json", "text"])
      .default("json")
      .describe("json: one object a line. text: for people, in a terminal."),
  })
  .prefault({});

const metrics = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1"),
    port: fromText(z.number().int().min(0).max(65_535)).prefault(9464),
    accounts: z
      .strictObject({
        by: z.enum(["user", "token"]).default("user"),
        max: fromText(z.number().int().min(1).max(10_000))
          .prefault(1_000)
          .describe("Accounts with series of their own in each process; the calls of others count under other."),
      })
      .optional()
      .describe("Counts calls and credits by account too. Unset: no label names an account."),
    names: z
      .enum(["tollgate", "litellm"])
      .default("tollgate")
      .describe("litellm: adds a dozen names of LiteLLM's metrics, for dashboards that exist (docs/from-litellm.md)."),
  })
  .describe("Serves GET /metrics for Prometheus on a port of its own, without a token. Unset: none.");

const files = z
  .strictObject({
    upload_limit: byteSize
      .prefault("512MiB")
      .describe(
        "The largest upload of a file, with its form; a larger one gets 413. server.body_limit does not apply.",
      ),
    upload_timeout: duration.prefault("30m").describe("How long an upload may take to arrive; after that it gets 408."),
    per_user_max: fromText(z.number().int().min(0).max(100_000))
      .prefault(1_000)
      .describe("Files that a user may have at all providers together; a further upload gets 403."),
    bytes_per_user_max: byteSize
      .prefault("5GiB")
      .describe("Bytes of these files in total; an upload that exceeds them gets 403."),
  })
  .prefault({})
  .describe("Files that callers upload to providers.");

const batches = z
  .strictObject({
    bytes_per_user: byteSize
      .prefault("1GiB")
      .describe("Bytes of a user's files of batches, inputs and results; a further upload gets 403."),
    lines_max: fromText(z.number().int().min(1).max(1_000_000)).prefault(50_000).describe("Lines of a batch."),
    file_max: byteSize.prefault("200MiB").describe("The largest file of a batch; a larger one gets 413."),
    keep: duration.prefault("29d").describe("How long files of batches, and ended batches, are kept."),
    lines: fromText(z.number().int().min(1).max(10_000))
      .prefault(16)
      .describe("Lines that one process calls at the same time; one batch has at most 8 of them."),
    native: z
      .union([z.enum(["auto", "off"]), z.record(z.string().min(1), z.enum(["auto", "off"]))])
      .prefault("auto")
      .describe(
        "Whether providers with batches of their own, which cost half, get the lines of batches that are all for one of them; also by the provider's prefix, as { openai: off }.",
      ),
  })
  .prefault({})
  .describe("Batches of calls, and their files.");

const responses = z
  .strictObject({
    websocket: fromText(z.boolean())
      .prefault(true)
      .describe("Whether GET /v1/responses opens a WebSocket; otherwise it gets 426, after which clients use HTTP."),
    sockets_per_token: fromText(z.number().int().min(1).max(100_000))
      .prefault(64)
      .describe(
        "Open WebSockets of one token in one process, those of watchers of crawls included; another handshake gets 429. Each reserves 16 MiB of server.memory_limit.",
      ),
    messages_per_second: fromText(z.number().int().min(1).max(1_000_000))
      .prefault(500)
      .describe(
        "Messages of a client in one second, pings and pongs included, also those of a watcher; beyond it the socket is closed with 1008 and rate_limit_exceeded.",
      ),
    socket_max: duration
      .prefault("60m")
      .describe(
        "The longest connection; it is closed after websocket_connection_limit_reached, once no response runs.",
      ),
  })
  .prefault({})
  .describe("The Responses API over WebSockets.");

const realtime = z
  .strictObject({
    sessions_per_token: fromText(z.number().int().min(1).max(100_000))
      .prefault(64)
      .describe(
        "Open sessions of one token in one process; another handshake gets 429. Each reserves 16 MiB of server.memory_limit.",
      ),
    session_max: duration.prefault("60m").describe("The longest session; it is closed with 1008 and session_expired."),
    idle_timeout: duration
      .prefault("10m")
      .describe("The longest silence in both directions; the session is closed with 1008 and session_idle."),
    stalled_timeout: duration
      .prefault("30s")
      .describe("How long a client may not read what was sent to it; its connection is then cut."),
    messages_per_second: fromText(z.number().int().min(1).max(1_000_000))
      .prefault(500)
      .describe(
        "Messages of a client in one second; beyond it the session is closed with 1008 and rate_limit_exceeded.",
      ),
    connect_timeout: duration
      .prefault("15s")
      .describe("How long the upstream may take to open its socket; the handshake then gets 502."),
  })
  .prefault({})
  .describe(
    "Sessions on the WebSocket /v1/realtime. A message has at most 16 MiB; a larger one closes the socket with 1009.",
  );

/** 32 bytes in base64 have 44 characters, in hex 64. */
const SECRET_KEY_CHARACTERS_MIN = 32;

const webhooks = z
  .strictObject({
    encryption_key: z
      .string()
      .refine(
        (key) => key === "" || key.length >= SECRET_KEY_CHARACTERS_MIN,
        `use at least ${SECRET_KEY_CHARACTERS_MIN} random characters, as of openssl rand -base64 32`,
      )
      .default("")
      .describe(
        "Encrypts the secrets of webhooks, and users' credentials at servers of tools, in the storage. Unset: TOLLGATE_SECRET_KEY, else a key file beside SQLite's file. On Postgres there are neither without it.",
      ),
  })
  .prefault({});

export const configSchema = z
  .strictObject({
    server,
    storage: z
      .string()
      .min(1)
      .default("sqlite:data/tollgate.db")
      .describe("sqlite:PATH or postgres://user:pass@host/db"),
    storage_migrate: z
      .enum(["start", "manual"])
      .default("start")
      .describe(
        "When the schema is migrated to that of a newer version: at its start, or only by tollgate migrate --apply; then a start on a storage that lacks steps is refused.",
      ),
    storage_journal: z
      .string()
      .min(1)
      .default("data/journal")
      .describe(
        "The directory for charges that the storage cannot take, until it can. It must outlive the process and belong to one machine.",
      ),
    upstream,
    routing,
    log,
    metrics: metrics.optional(),
    otlp: otlp.optional(),
    alerts: alerts.optional(),
    retention: retention.optional(),
    auth,
    providers: z.record(prefix, provider).prefault(defaultProviders),
    files,
    batches,
    responses,
    realtime,
    web,
    webhooks,
    models,
    mcp,
    tools,
    pricing,
  })
  .superRefine(refuseTakenNames)
  .superRefine(refuseUnknownTools);

export type Config = z.output<typeof configSchema>;
