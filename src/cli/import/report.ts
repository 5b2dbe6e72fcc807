import type { ImportOutcome } from "../../accounts/index.ts";
import type { Finding, ImportedConfig } from "../../litellm/index.ts";
import { printLine } from "../print.ts";

/** The result of an import; as JSON it is printed as it is. */
export interface Report {
  file: string | null;
  written: boolean;
  dry_run: boolean;
  variables: ImportedConfig["newVariables"];
  findings: readonly Finding[];
  accounts: ImportOutcome | null;
}

const headings = [
  ["approximate", "Approximate:"],
  ["by hand", "To do by hand:"],
  ["impossible", "Not possible here:"],
] as const;

export function printReport({ file, written, dry_run: isDry, variables, findings, accounts }: Report): void {
  const exact = findings.filter(({ fidelity }) => fidelity === "exact").length;
  printLine(`${exact} fields are exact; --json lists them.`);
  for (const [fidelity, heading] of headings) {
    const found = grouped(findings.filter((finding) => finding.fidelity === fidelity));
    if (found.length > 0) printLine(heading);
    for (const { field, note, count } of found) printLine(`  ${field}${count > 1 ? ` (${count}×)` : ""}: ${note}`);
  }
  if (accounts !== null) printAccounts(accounts, isDry);
  if (written) printLine(`${file} was written: check it with tollgate config check ${file}`);
  for (const { name, field } of variables) printLine(`Set the variable ${name} to the key at ${field}.`);
}

/** Findings that differ only in the place of a list are one line. */
function grouped(findings: readonly Finding[]): { field: string; note: string; count: number }[] {
  const lines = new Map<string, { field: string; note: string; count: number }>();
  for (const { field, note } of findings) {
    const general = field.replaceAll(/\.\d+(?=\.|$)/g, ".*");
    const line = lines.get(`${general}\n${note}`);
    if (line === undefined) lines.set(`${general}\n${note}`, { field: general, note, count: 1 });
    else line.count += 1;
  }
  return [...lines.values()];
}

function printAccounts({ created, unchanged, leftOut, ended }: ImportOutcome, isDry: boolean): void {
  printLine(`${isDry ? "It would be created" : "Created"}: ${counts(created)}.`);
  printLine(`Imported before: ${counts(unchanged)}.`);
  for (const { token, key } of ended)
    printLine(`${isDry ? "It would end" : "Ended"}: key ${key} of token ${token}, which LiteLLM has no more.`);
  for (const { kind, foreignId, problem } of leftOut)
    printLine(`Left out: ${kind} ${kind === "token" ? foreignId.slice(0, 8) : foreignId}: ${problem}`);
}

function counts(of: ImportOutcome["created"]): string {
  return Object.entries(of)
    .map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`)
    .join(", ");
}
