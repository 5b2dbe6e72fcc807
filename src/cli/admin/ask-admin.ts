/** A request of a command to the admin API: to a running gateway, or to the same routes on the storage. */
import { GatewayError, objectOf } from "../../core/index.ts";
import type { AdminRoute } from "../../http/admin/index.ts";
import { type CommonOptions, UsageError } from "../options.ts";
import { withState } from "../state.ts";

export interface AskOptions extends CommonOptions {
  /** The address of a gateway; the configured storage without it. */
  server?: string;
  reason?: string;
  dryRun?: boolean;
}

export interface AdminRequest {
  route: AdminRoute;
  /** In place of `{id}` in the route. */
  id?: string;
  /** Undefined members are left out. */
  query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON, or the bytes of a file. */
  body?: object | Uint8Array | undefined;
  contentType?: string;
}

/** A file of people takes some seconds, the check of a long audit log some minutes. */
const ANSWER_MS_MAX = 10 * 60_000;

/** The API's answer. Throws a `UsageError` with the API's message if the request is refused. */
export async function askAdmin<Answer>(options: AskOptions, request: AdminRequest): Promise<Answer> {
  return (await readAdmin(options, request, (answer) => answer.json())) as Answer;
}

/** What is read of the API's answer. Rejects like `askAdmin`. */
export function readAdmin<Result>(
  options: AskOptions,
  request: AdminRequest,
  read: (answer: Response) => Promise<Result>,
): Promise<Result> {
  const { server } = options;
  return server === undefined ? askStorage(options, request, read) : askServer(server, { options, request, read });
}

async function askStorage<Result>(
  options: AskOptions,
  request: AdminRequest,
  read: (answer: Response) => Promise<Result>,
): Promise<Result> {
  const { createStorageApi } = await import("../../app/admin-api.ts");
  return withState(options, async (state) => {
    try {
      return await read(await createStorageApi(state.storage, state)(requestOf("http://localhost", options, request)));
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.fault === "client") throw new UsageError(thrown.message);
      throw thrown;
    }
  });
}

interface Asked<Result> {
  options: AskOptions;
  request: AdminRequest;
  read: (answer: Response) => Promise<Result>;
}

async function askServer<Result>(server: string, { options, request, read }: Asked<Result>): Promise<Result> {
  const base = baseOf(server);
  const { TOLLGATE_TOKEN: token = "" } = process.env;
  // On the command line it would be seen by everyone on the machine.
  if (token === "") throw new UsageError("--server: set TOLLGATE_TOKEN to a token with a role");
  const asked = requestOf(base, options, request, { authorization: `Bearer ${token}` });
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const answer = await fetch(asked, { signal, redirect: "manual" }).catch((reason: unknown) => {
    throw new UsageError(`${server} is not reached: ${reason instanceof Error ? reason.message : String(reason)}`);
  });
  if (!answer.ok) {
    const refusal: unknown = await answer.json().catch(() => undefined);
    const message = objectOf(objectOf(refusal)?.["error"])?.["message"];
    throw new UsageError(typeof message === "string" ? message : `${server} answers ${answer.status}`);
  }
  return read(answer).catch((reason: unknown) => {
    throw new UsageError(`the answer of ${server} broke off`, { cause: reason });
  });
}

/** The address without a slash at its end. */
function baseOf(server: string): string {
  const isAddress = URL.canParse(server) && /^https?:$/.test(new URL(server).protocol);
  if (!isAddress) throw new UsageError(`--server: "${server}" is no address such as http://127.0.0.1:8787`);
  return server.replace(/\/+$/, "");
}

function requestOf(
  base: string,
  { reason, dryRun }: AskOptions,
  { route, id = "", query = {}, body, contentType = "application/json" }: AdminRequest,
  headers: Readonly<Record<string, string>> = {},
): Request {
  const [method = "", path = ""] = route.split(" ");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, `${value}`);
  if (dryRun === true) search.set("dry_run", "true");
  return new Request(`${base}${path.replace("{id}", encodeURIComponent(id))}?${search.toString()}`, {
    method: method.toUpperCase(),
    headers: {
      ...headers,
      ...(body !== undefined && { "content-type": contentType }),
      // A header takes bytes, each written as one character.
      ...(reason !== undefined && { "x-tollgate-reason": Buffer.from(reason, "utf8").toString("latin1") }),
    },
    body: body === undefined ? null : body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
  });
}
