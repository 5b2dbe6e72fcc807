/** One gateway process in front of the seven simulated providers, with callers whose spending can be read exactly. */
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
import { simulatedProviders, simulatedKey } from "./providers.ts";
import { waitMsMax } from "./time-limits.ts";
import { until } from "./until.ts";

export const chatPath = "/v1/chat/completions";

export interface CallOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How long the call may take. */
  msMax?: number;
}

/** A separate user, so that a test's spending is distinguishable from that of others. */
export interface Caller {
  token: string;
  user: string;
  /** POSTs to /v1/chat/completions; a string is sent as it is. */
  chat(body: string | object, options?: CallOptions): Promise<Response>;
  /** Nano-credits posted and held, from the ledger itself. */
  books(): Promise<{ spent: bigint; held: bigint }>;
  /** Waits until nothing is held, and returns the spending. */
  closed(): Promise<bigint>;
}

export interface Rig {
  simulators: Simulators;
  gateway: Gateway;
  caller(): Promise<Caller>;
  /** The same chat call straight at a simulator, with the key that the gateway uses. */
  direct(provider: string, body: string | object, options?: CallOptions): Promise<Response>;
  /** Requests received by a simulator whose `model` begins with this text. */
  received(model: string): ReturnType<Simulators["requests"]>;
  /** Fails unless every hold ends soon and every balance follows from its entries. */
  expectBalancedBooks(): Promise<void>;
  stop(): Promise<void>;
}

export interface RigOptions extends Omit<GatewayOptions, "providers"> {
  /** Further or other provider entries, given the simulators. */
  providers?: (simulators: Simulators) => Record<string, object>;
}

/** Path of chat completions behind each simulator's base URL, if unusual. */
const chatPaths: Record<string, string> = {
  google: "/v1beta/openai/chat/completions",
  anthropic: "/v1/chat/completions",
};

export async function startRig({ providers, ...options }: RigOptions = {}): Promise<Rig> {
  const simulators = await startSimulators();
  const gateway = await startGateway({
    ...options,
    providers: { ...simulatedProviders(simulators), ...providers?.(simulators) },
  });
  const ledger = openLedgerStore(gateway.storage);
  let callers = 0;

  const makeCaller = async (): Promise<Caller> => {
    callers += 1;
    const user = `caller-${callers}`;
    const token = await gateway.token({ user });
    const books = async () => {
      const [account] = await ledger.chain(accountId("user", user), Date.now());
      return { spent: account?.debitsPosted ?? 0n, held: account?.debitsPending ?? 0n };
    };
    return {
      token,
      user,
      books,
      chat: (body, call) => postChat(gateway, token, body, call),
      async closed() {
        await until(`nothing is held for ${user}`, async () => (await books()).held === 0n);
        return (await books()).spent;
      },
    };
  };

  return {
    simulators,
    gateway,
    caller: makeCaller,
    direct(provider, body, call) {
      const base: string | undefined = simulators.providers[provider as keyof Simulators["providers"]];
      if (base === undefined) throw new Error(`no simulator ${provider}`);
      return postTo(base + (chatPaths[provider] ?? "/chat/completions"), simulatedKey, body, call);
    },
    received: (model) => simulators.requests().filter((request) => modelOf(request.body).startsWith(model)),
    async expectBalancedBooks() {
      await until("no hold is open", async () => (await ledger.openHolds()).length === 0);
      const { drifts, shortfall } = await ledger.audit();
      if (drifts.length > 0 || shortfall !== 0n)
        throw new Error(`the books drift: ${JSON.stringify(drifts, printBigint)}`);
    },
    async stop() {
      await gateway.stop();
      await simulators.stop();
    },
  };
}

/** POSTs to a gateway's /v1/chat/completions; a string is sent as it is. */
export function postChat(
  gateway: Pick<Gateway, "url">,
  token: string,
  body: string | object,
  options?: CallOptions,
): Promise<Response> {
  return postTo(gateway.url + chatPath, token, body, options);
}

/** POSTs a form or JSON to a rig's gateway; a string is sent as it is. */
export function post(
  { gateway }: Rig,
  path: string,
  token: string,
  body: string | object,
  options?: CallOptions,
): Promise<Response> {
  return postTo(gateway.url + path, token, body, options);
}

/** A call that hangs fails by itself: the test runner's own limit would end the gateway together with the test. */
function postTo(
  url: string,
  token: string,
  body: string | object,
  { headers, signal, msMax = waitMsMax }: CallOptions = {},
): Promise<Response> {
  const deadline = AbortSignal.timeout(msMax);
  // For a form, `fetch` sets the type itself, with the boundary.
  const type = body instanceof FormData ? {} : { "content-type": "application/json" };
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    body: typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body),
    redirect: "manual",
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
  });
}

/** The request that a simulator received last. */
export function lastReceived({ simulators }: Rig): ReturnType<Simulators["requests"]>[number] {
  const last = simulators.requests().at(-1);
  if (last === undefined) throw new Error("nothing was received");
  return last;
}

/** The answer of the simulator of the last request to the same request, or to other JSON at the same URL. */
export function askAgain(rig: Rig, body: string | object = lastReceived(rig).body): Promise<Response> {
  return postTo(rig.simulators.url + lastReceived(rig).path, simulatedKey, body);
}

function modelOf(body: string): string {
  return /"model"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? "";
}

function printBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
