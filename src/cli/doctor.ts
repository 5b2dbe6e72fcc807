import type { Command } from "commander";
import { createModelRouter } from "../app/routing/routing.ts";
import { differenceIn, openNodeStore, THERE_MS_MAX } from "../nodes/index.ts";
import { ageText } from "../pricing/index.ts";
import type { UpstreamRoute } from "../routing/index.ts";
import { classifyFailure } from "../sending/index.ts";
import { catalogsIn } from "./catalogs.ts";
import { type CommonOptions, withCommonOptions } from "./options.ts";
import { printJson, printTable } from "./print.ts";
import { environment, type State, withState } from "./state.ts";
import { expiryOf, loadKeyPair } from "./tls/key-pair.ts";

interface Finding {
  check: string;
  ok: boolean;
  /** Set if it should be seen to, but does not fail the check. */
  warning?: true;
  detail: string;
}

/** The time-out for an upstream to prove that it can be reached. */
const REACH_MS_MAX = 5_000;

export function addDoctorCommand(program: Command): void {
  withCommonOptions(
    program.command("doctor").description("check the configuration, the storage, the books and the upstreams"),
  ).action(doctor);
}

async function doctor(options: CommonOptions): Promise<void> {
  const findings = await withState(options, async (state) => [
    { check: "configuration", ok: true, detail: state.loaded.file ?? "the defaults" },
    ...(await checkCertificate(state)),
    await checkBooks(state),
    await checkPrices(state),
    ...(await checkNodes(state)),
    ...(await checkProviders(state)),
  ]);
  if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
  if (options.json === true) return printJson(findings);
  printTable(
    ["", "CHECK", "DETAIL"],
    findings.map(({ check, ok, warning, detail }) => [ok && warning !== true ? "ok" : "!!", check, detail]),
  );
}

/** Renewals come weeks before: a certificate that has less left was not renewed. */
const CERTIFICATE_MS_MIN = 14 * 86_400_000;

async function checkCertificate({ loaded }: State): Promise<Finding[]> {
  const { tls } = loaded.config.server;
  if (tls === undefined) return [];
  const check = "certificate";
  try {
    const expires = expiryOf(await loadKeyPair(tls)).getTime();
    const left = expires - environment.clock();
    const detail = `${tls.cert} is valid until ${new Date(expires).toISOString()}`;
    return [{ check, ok: left > 0, ...(left < CERTIFICATE_MS_MIN && { warning: true }), detail }];
  } catch (thrown) {
    return [{ check, ok: false, detail: thrown instanceof Error ? thrown.message : String(thrown) }];
  }
}

async function checkBooks({ accounts }: State): Promise<Finding> {
  const { drifts, openHolds } = await accounts.audit();
  return { check: "ledger", ok: drifts.length === 0, detail: `${drifts.length} drifts, ${openHolds} open holds` };
}

/** Old prices are a warning: they are still those of most models. */
async function checkPrices({ loaded, storage }: State): Promise<Finding> {
  const age = (await catalogsIn(storage, loaded.config)).age(environment.clock());
  const detail = age === undefined ? "the catalog has no date" : ageText(age);
  return { check: "prices", ok: true, ...(age?.isOld === true && { warning: true }), detail };
}

/** Nodes that charge by different prices, or route differently. */
async function checkNodes({ storage }: State): Promise<Finding[]> {
  const at = environment.clock();
  const nodes = await openNodeStore(storage).seenSince(at - THERE_MS_MAX);
  if (nodes.length < 2) return [];
  const difference = differenceIn(nodes, at);
  const names = nodes.map(({ name }) => name).join(", ");
  if (difference?.lasts !== true) return [{ check: "nodes", ok: true, detail: names }];
  return [{ check: "nodes", ok: false, detail: `${names} have different ${difference.parts.join(", ")}` }];
}

async function checkProviders({ loaded, storage }: State): Promise<Finding[]> {
  const catalogs = await catalogsIn(storage, loaded.config);
  const { routes } = createModelRouter({ ...loaded, sandbox: new Map(), environment, catalogs });
  return Promise.all(
    routes.map(async (route): Promise<Finding> => {
      const check = `provider ${route.prefix}`;
      const { requiredVariable } = route;
      if (requiredVariable !== undefined) return { check, ok: true, detail: `not routed: set ${requiredVariable}` };
      const proofs = await Promise.all(route.keys.ids.map((id) => proveKey(route, id)));
      const failed = proofs.find(({ ok }) => !ok);
      return { check, ...(failed ?? proofs[0] ?? { ok: false, detail: "no key" }) };
    }),
  );
}

const PROVING_OPERATIONS = ["chat", "messages", "responses", "rerank"] as const;

/**
 * Proves a key by an empty request for text, which is refused for its lack of everything, and billed by nobody: a key that is
 * refused comes first. A provider without such an operation only has its address proved.
 */
async function proveKey({ provider, baseUrl, keys }: UpstreamRoute, keyId: string): Promise<Omit<Finding, "check">> {
  const operation = PROVING_OPERATIONS.find((each) => provider.operations[each] !== undefined);
  const path = operation === undefined ? undefined : provider.operations[operation]?.path;
  const secret = keys.find(keyId)?.secret ?? "";
  try {
    const response = await environment.fetch(baseUrl + (path ?? ""), {
      ...(path !== undefined && {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json", ...provider.headers(secret, path) },
      }),
      redirect: "manual",
      signal: AbortSignal.timeout(REACH_MS_MAX),
    });
    const { status, headers } = response;
    const body = (await response.text()).slice(0, ANSWER_CHARACTERS_MAX);
    const { name } = classifyFailure(provider.failures, { status, headers, body }, environment.clock());
    const isRefused = status === 403 || name === "key_refused";
    if (isRefused) return { ok: false, detail: `${baseUrl} refuses the key ${keyId} (${status})` };
    return { ok: true, detail: `${baseUrl} takes the key ${keyId} (${status})` };
  } catch (reason) {
    return {
      ok: false,
      detail: `${baseUrl} can't be reached: ${reason instanceof Error ? reason.message : String(reason)}`,
    };
  }
}

/** Of an answer, that are searched for the reason of a refusal. */
const ANSWER_CHARACTERS_MAX = 10_000;
