import type { ServerResponse } from "node:http";

import { deliver, replacingFault } from "./deliver.ts";
import { type FaultBook, FaultSpecError, type Faults, noFaults, splitModel } from "./faults.ts";
import { matchPath, pause } from "./http.ts";
import { identityOf } from "./identity.ts";
import { isObject, parseJson } from "./json.ts";
import { Outlet } from "./outlet.ts";
import { recordedBodyBytesMax, type RecordedRequest, type Recorder } from "./recorder.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { type Answer, type Call, errorAnswer, type Route, type SimulatedProvider } from "./types.ts";

const faultHeader = "x-sim-fault";
/** The one API key that every provider refuses. */
const refusedKey = "bad-key";

/** One request as it came in. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: Buffer;
}

/** What all requests share. */
export interface ExchangeState {
  readonly recorder: Recorder;
  readonly faultBook: FaultBook;
  /** What each provider keeps, by the provider's name. */
  readonly kept: ReadonlyMap<string, KeptAnswers>;
}

/** Records one request to a provider, answers it, and applies its faults. Rejects only by a bug of the simulators. */
export async function exchange(
  received: Received,
  response: ServerResponse,
  provider: SimulatedProvider,
  state: ExchangeState,
): Promise<void> {
  const closeRecord = state.recorder.open(recordOf(received, provider));
  const ready = prepare(received, provider, state);
  const { faults } = ready.call;
  const outlet = new Outlet(response, faults);
  outlet.gone.addEventListener("abort", () => closeRecord(outlet.finished ? "answered" : "aborted"), { once: true });
  await pause(faults.slowMs, outlet.gone);
  if (faults.connectReset) outlet.reset();
  else await respond(ready, provider, outlet);
  if (outlet.finished) closeRecord("answered");
}

function recordOf(received: Received, provider: SimulatedProvider): Omit<RecordedRequest, "outcome"> {
  return {
    provider: provider.name,
    method: received.method,
    path: received.url.pathname + received.url.search,
    headers: received.headers,
    body: received.bytes.toString("utf8", 0, recordedBodyBytesMax),
  };
}

/** A request that is ready to be answered. */
interface Ready {
  readonly call: Call;
  readonly route: Route | null;
  readonly apiKey: string | null;
  /** Set where the fault specification cannot be read. */
  readonly specError: string | null;
}

async function respond(ready: Ready, provider: SimulatedProvider, outlet: Outlet): Promise<void> {
  const errors = ready.route?.errors ?? provider.errors;
  const { call } = ready;
  const answer = replacingFault(call.faults, errors) ?? answerCall(ready, provider);
  await deliver(answer, { outlet, faults: call.faults, headers: provider.responseHeaders(call), errors });
}

function answerCall(ready: Ready, provider: SimulatedProvider): Answer {
  const { call, route, apiKey } = ready;
  if (ready.specError !== null) {
    return { kind: "json", status: 400, body: { error: { message: ready.specError, type: "simulator_error" } } };
  }
  if (route === null) return errorAnswer(provider.errors.routeNotFound(call.method, call.path));
  const errors = route.errors ?? provider.errors;
  if (apiKey === null) return errorAnswer(errors.keyMissing());
  if (apiKey === refusedKey) return errorAnswer(errors.keyInvalid());
  return route.handle(call);
}

function prepare(received: Received, provider: SimulatedProvider, state: ExchangeState): Ready {
  const path = received.url.pathname;
  const { route, parameters } = findRoute(provider, received.method, path);
  const { body, modelSpec, model } = readModel(received.bytes);
  const { method, headers, bytes } = received;
  const identity = identityOf(provider.name, method, path + received.url.search, bytes);
  const query = received.url.searchParams;
  const kept = state.kept.get(provider.name) ?? new KeptAnswers();
  const call = { method, path, parameters, query, headers, body, bytes, identity, faults: noFaults, kept };
  const key = splitKey(provider.apiKey(call));
  const spec = [headers[faultHeader], modelSpec, key.spec].filter((part) => typeof part === "string").join("+");
  const taken = takeFaults(state.faultBook, spec, `${provider.name} ${model}+${spec}`, key.apiKey);
  return { call: { ...call, faults: taken.faults }, route, apiKey: key.apiKey, specError: taken.specError };
}

function takeFaults(
  faultBook: FaultBook,
  spec: string,
  subject: string,
  apiKey: string | null,
): { readonly faults: Faults; readonly specError: string | null } {
  try {
    return { faults: faultBook.take(spec === "" ? null : spec, subject, apiKey), specError: null };
  } catch (error) {
    if (error instanceof FaultSpecError) return { faults: noFaults, specError: error.message };
    throw error;
  }
}

function splitKey(key: string | null): { readonly apiKey: string | null; readonly spec: string | null } {
  if (key === null) return { apiKey: null, spec: null };
  const { model: apiKey, spec } = splitModel(key);
  return { apiKey, spec };
}

function findRoute(
  provider: SimulatedProvider,
  method: string,
  path: string,
): Pick<Ready, "route"> & Pick<Call, "parameters"> {
  for (const route of provider.routes) {
    const parameters = route.method === method ? matchPath(route.path, path) : null;
    if (parameters !== null) return { route, parameters };
  }
  return { route: null, parameters: {} };
}

/** Decodes the body and takes a fault specification off its `model`. */
function readModel(bytes: Buffer): {
  readonly body: unknown;
  readonly model: string;
  readonly modelSpec: string | null;
} {
  const body = bytes.length === 0 ? undefined : parseJson(bytes.toString("utf8"));
  if (!isObject(body) || typeof body["model"] !== "string") return { body, model: "", modelSpec: null };
  const { model, spec } = splitModel(body["model"]);
  return { body: spec === null ? body : { ...body, model }, model, modelSpec: spec };
}
