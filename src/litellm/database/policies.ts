/** Limits of LiteLLM's rows. */
import type { Findings } from "../finding.ts";
import { numberIn, textsIn } from "./values.ts";
import type { LitellmRow } from "../sql/read-database.ts";

/** The most that a limit can be here. */
const LIMIT_MAX = 999_999_999;

/** Names of LiteLLM that stand for all models, as far as the levels above permit them. */
const everything: ReadonlySet<string> = new Set(["*", "all-team-models", "all-proxy-models"]);

const GLOB = /^[!-+\x2d-~]{1,256}$/;

/** By LiteLLM's name of a model: the globs that permit it. */
export type Permits = ReadonlyMap<string, readonly string[]>;

export interface ReadPolicy {
  models: readonly string[] | undefined;
  rpm: number | undefined;
  tpm: number | undefined;
  concurrency: number | undefined;
  expiresAt: undefined;
  /** Whether a limit of zero forbids every call. */
  isClosed: boolean;
}

/** The limits of a row, those of its row of budgets if it has none of its own. `field` names the row in findings. */
export function policyOf(
  row: LitellmRow,
  shared: LitellmRow | undefined,
  { permits, findings, field }: { permits: Permits; findings: Findings; field: string },
): ReadPolicy {
  const limit = (column: string): number | undefined => numberIn(row, column) ?? numberIn(shared ?? {}, column);
  const bounds = [limit("rpm_limit"), limit("tpm_limit"), limit("max_parallel_requests")];
  const isClosed = bounds.some((bound) => bound !== undefined && bound < 1);
  if (isClosed) findings.note(field, "approximate", "a limit of zero: it is paused or disabled");
  const [rpm, tpm, concurrency] = bounds.map((bound) =>
    bound === undefined || bound < 1 || bound > LIMIT_MAX ? undefined : Math.floor(bound),
  );
  return {
    models: modelsOf(textsIn(row, "models"), { permits, findings, field }),
    rpm,
    tpm,
    concurrency,
    expiresAt: undefined,
    isClosed,
  };
}

function modelsOf(
  names: readonly string[],
  { permits, findings, field }: { permits: Permits; findings: Findings; field: string },
): string[] | undefined {
  if (names.length === 0 || names.some((name) => everything.has(name))) return undefined;
  const globs = names.flatMap((name): readonly string[] => {
    const known = permits.get(name);
    if (known !== undefined) return known;
    findings.note(`${field}.models`, "by hand", `${name} is no name in FILE: it stays in the list as it is`);
    return [name];
  });
  const usable = [...new Set(globs)].filter((glob) => GLOB.test(glob));
  // A list never becomes a longer one, nor none.
  return usable.length === 0 ? ["none"] : usable;
}
