/** The part of the configuration for tools: the gateway's own, and those of other servers. */
import { z } from "zod";
import { isTrustedOrigin } from "./auth.ts";
import { fromText } from "./values/from-text.ts";
import { httpUrl } from "./provider.ts";
import { byteSize as size, duration as time } from "./values/units.ts";

const byteSize = fromText(size);
const duration = fromText(time);

const toolModel = (noun: string) => z.string().min(1).max(256).optional().describe(`For ${noun}.`);

const serverName = z.string().regex(/^[a-z0-9-]{1,32}$/, "a name of up to 32 lowercase letters, digits and -");

const serverAddress = z
  .string()
  .max(1_000)
  .refine(isServerAddress, "https://host/path, without credentials, query or another * than that of *.host");

const globs = z.array(z.string().regex(/^!?[\w.*-]{1,200}$/, "a glob of tools, behind ! an exception")).min(1);

const rate = fromText(z.number().min(0).max(1e6));

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, "no header name");
const headerValue = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, "printable ASCII");

const scopes = z
  .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, "no scope"))
  .max(100)
  .optional();

const oauth = z
  .strictObject({
    client_id: headerValue
      .max(2_048)
      .optional()
      .describe("The gateway's id at the authorization server. Unset: /client-metadata.json, or a registration."),
    client_secret: headerValue.max(8_192).optional().describe("With client_id, of a confidential client."),
    issuer: httpUrl
      .optional()
      .describe(
        "The only authorization server that is asked. Unset: the one that the server of tools names; with a client_secret, the first one that it has named.",
      ),
    scopes: scopes.describe("Unset: those that the server asks for."),
  })
  .refine(({ client_id: id, client_secret: secret }) => secret === undefined || id !== undefined, {
    path: ["client_id"],
    error: "client_secret needs client_id",
  })
  .describe("The gateway signs in at the server's authorization server (OAuth).");

const exchange = z
  .strictObject({
    token_url: httpUrl
      .refine((url) => isTrustedOrigin(new URL(url)), "https; http on loopback alone")
      .describe("The token endpoint of the identity provider."),
    client_id: headerValue.max(2_048).describe("The gateway's id there."),
    client_secret: headerValue.max(8_192).optional().describe("Of a confidential client."),
    audience: headerValue
      .max(2_048)
      .optional()
      .describe("The server as the provider names it. Unset: its url, as the resource."),
    scopes: scopes.describe("Unset: none are asked for."),
  })
  .describe(
    "Callers with a token of auth.issuers reach the server with another one, for which the provider exchanges theirs (RFC 8693).",
  );

const auth = z
  .union([
    z.strictObject({ bearer: headerValue.describe("Sent as the bearer token.") }),
    z.strictObject({ headers: z.record(headerName, headerValue).describe("Sent with every request.") }),
    z.strictObject({
      header: headerName.describe("The header in which each user's own secret is sent."),
      of: z.literal("user"),
    }),
    z.strictObject({
      oauth,
      of: z
        .enum(["operator", "user"])
        .describe("Whether an owner signs in once for all callers, or each user for themselves."),
    }),
    z.strictObject({ exchange }),
  ])
  .describe(
    "The operator's credentials, or with `of: user` those that each user gives (/v1/tools/connections). The caller's token never reaches the server.",
  );

const price = z
  .strictObject({
    call: rate.prefault(0).describe("Credits for a call."),
    tools: z
      .record(z.string().min(1), rate)
      .prefault({})
      .describe("The same for single tools: globs, the last match counts."),
    errors: globs
      .optional()
      .describe("Globs of the tools whose results with isError cost the same. Unset: such results are free."),
  })
  .describe("Unset: calls are free, and recorded all the same.");

const text = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^\0]*$/, "no text for a program");

const limits = z
  .strictObject({
    memory: byteSize.prefault("1GiB").describe("Resident memory of the program and all that it starts (Linux)."),
    open_files: fromText(z.int().min(16).max(65_536)).prefault(1_024).describe("Open files and connections."),
    processes: fromText(z.int().min(1).max(10_000)).prefault(64).describe("Processes with those it starts (Linux)."),
  })
  .prefault({})
  .describe("A program beyond these bounds is ended.");

const toolServer = z
  .strictObject({
    url: httpUrl.optional().describe("The URL of the MCP server (Streamable HTTP, in any revision)."),
    openapi: text
      .optional()
      .describe(
        "The file of an OpenAPI document (3.x, JSON or YAML, up to 5 MiB): the operations of the API at url are the tools.",
      ),
    command: text.optional().describe("Instead of url: the program of an MCP server over standard input and output."),
    args: z.array(z.string().max(32_768)).prefault([]).describe("The program's arguments."),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "no name of a variable"), z.string().max(32_768))
      .prefault({})
      .describe("The program's variables. It gets none of the gateway's but PATH."),
    directory: text
      .optional()
      .describe("The program's working directory. Unset: one of its own, removed with the gateway."),
    user: text
      .optional()
      .describe(
        "The name or id of the user that the program runs as. Unset: for a gateway of root, one without rights.",
      ),
    instance: z
      .enum(["shared", "user"])
      .default("shared")
      .describe("Whether all callers share the program's process, or each user has one."),
    limits,
    idle: duration.prefault("10m").describe("The program is stopped after this time without a call."),
    auth: auth.optional(),
    tools: globs.optional().describe("The tools that are offered: globs of the server's names. Unset: all."),
    price: price.optional(),
    pin: z
      .boolean()
      .default(true)
      .describe("Whether a tool that the server changes is no longer offered until `tollgate tools approve`."),
    idempotent: globs
      .optional()
      .describe("Globs of the tools whose calls are sent again, up to twice, if an answer is lost. Unset: none."),
    timeout: duration.prefault("60s").describe("How long a call may take, with all attempts."),
    max_result: byteSize.optional().describe("The largest result of a call. Unset: 8MiB, with openapi 1MiB."),
  })
  .superRefine(({ url, command, openapi, auth: given }, context) => {
    if ((url === undefined) === (command === undefined)) refuse(context, ["url"], "give either url or command");
    if (openapi !== undefined && url === undefined) refuse(context, ["url"], "with openapi: the address of the API");
    if (command !== undefined && given !== undefined)
      refuse(context, ["auth"], "a program gets its credentials by env");
  });

const toolSet = z.strictObject({
  servers: z.array(z.string()).min(1).describe("Names of servers, and tollgate for the gateway's own tools."),
  tools: globs
    .optional()
    .describe("The tools that are in it: globs of server__tool, the gateway's own by their names."),
  prefix: z
    .enum(["always", "never"])
    .default("always")
    .describe("Whether names begin with that of the server. never: only names that several servers use."),
});

export const mcp = z
  .strictObject({
    models: z
      .strictObject({
        chat: toolModel("chat"),
        embedding: toolModel("embed"),
        image: toolModel("image_generate"),
        image_edit: toolModel("image_edit"),
        speech: toolModel("speech_generate"),
        transcription: toolModel("audio_transcribe"),
        video: toolModel("video_generate"),
      })
      .prefault({})
      .describe("The models, or names of routes, of tools that are called without one. Unset: the call must name one."),
    search_above: fromText(z.int().min(0).max(10_000_000))
      .optional()
      .describe(
        "Tokens of a list of tools, estimated, above which clients get tools that search it instead, as with ?mode=search. Unset: never.",
      ),
    calls: fromText(z.int().min(1).max(100_000))
      .prefault(512)
      .describe(
        "Calls of servers at a time, in each process. Further calls wait; while they do, the calls of one user, or to one server, get three quarters.",
      ),
    allow_server_urls: z
      .array(serverAddress)
      .prefault([])
      .describe(
        "Addresses of servers that requests may name as tools of models (server_url of Responses, mcp_servers of Messages), with all below their paths; *. before a host permits all names below it. They pass the guard of web.allow_private_hosts.",
      ),
    servers: z
      .record(serverName, toolServer)
      .prefault({})
      .describe("Other servers of tools, by the name in their URL, /mcp/{name}."),
    sets: z
      .record(serverName, toolSet)
      .prefault({})
      .describe("Several servers at one URL, by its name: /mcp/{name}. All of them are at /mcp/all."),
  })
  .superRefine(({ servers, sets }, context) => {
    for (const [set, { servers: members }] of Object.entries(sets)) {
      const unknown = members.find((name) => name !== "tollgate" && !(name in servers));
      if (unknown !== undefined) refuse(context, ["sets", set, "servers"], `there is no server "${unknown}"`);
      if (set in servers) refuse(context, ["sets", set], "a server has this name");
    }
  })
  .prefault({})
  .describe("The gateway's tools, over MCP at /mcp.");

/** Whether an address, or one of all names below a host, has nothing besides. */
function isServerAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const isBare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  // `*.com` would be nobody's.
  return isBare && /^(?:\*\.(?=[^.]+\.))?[^*]+$/.test(url.hostname) && !url.pathname.includes("*");
}

function refuse(context: z.RefinementCtx, path: string[], message: string): void {
  context.addIssue({ code: "custom", path, message });
}

interface NamedParts {
  mcp: z.output<typeof mcp>;
  providers: Readonly<Record<string, { aliases: readonly string[] }>>;
}

/** Records name servers like providers, so that no server may have a provider's name. */
export function refuseTakenNames({ mcp: { servers, sets }, providers }: NamedParts, context: z.RefinementCtx): void {
  const taken = new Set(["all", "tollgate", "web"]);
  for (const [prefix, { aliases }] of Object.entries(providers))
    for (const name of [prefix, ...aliases]) taken.add(name);
  const named = [
    ...Object.keys(servers).map((name) => ["servers", name]),
    ...Object.keys(sets).map((name) => ["sets", name]),
  ];
  for (const [part = "", name = ""] of named) {
    if (taken.has(name)) refuse(context, ["mcp", part, name], "this name is a provider's, or the gateway's own");
  }
}
