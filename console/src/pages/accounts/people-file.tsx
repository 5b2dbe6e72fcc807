import { useState } from "react";
import { request } from "../../api/client.ts";
import { csvOf, download } from "../../reports/csv.ts";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import type { PeopleDifference } from "./types.ts";

const PATH = "/admin/v1/people";

/** The bytes of the chosen file, with the type for the API. */
async function bodyOf(file: File): Promise<Blob> {
  const isJson = /\.json$/i.test(file.name);
  return new Blob([await file.arrayBuffer()], { type: isJson ? "application/json" : "text/csv" });
}

interface Planned {
  body: Blob;
  difference: PeopleDifference;
}

/** Creates and changes many users by a file: first the difference is shown, then it is applied, all or nothing. */
export function PeopleFile() {
  const [file, setFile] = useState<File>();
  const [planned, setPlanned] = useState<Planned>();
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    setPlanned(undefined);
  };
  const act = async (text: (name: string) => string): Promise<PeopleDifference | undefined> => {
    if (planned !== undefined) {
      const done = await request<PeopleDifference>(PATH, { method: "PUT", body: planned.body, reason: text("reason") });
      setPlanned(undefined);
      return done;
    }
    if (file === undefined) throw new Error("Choose a file.");
    const body = await bodyOf(file);
    setPlanned({ body, difference: await request(`${PATH}?dry_run=true`, { method: "PUT", body }) });
    return undefined;
  };
  return (
    <FormDialog
      word="From a file"
      title="Users from a file"
      confirm={planned === undefined ? "Show the difference" : "Apply"}
      act={act}
      onClose={() => choose(undefined)}
      shown={(difference) => <Applied difference={difference} />}
    >
      <label className="block min-w-0">
        <span className="mb-1 block text-xs text-muted">
          CSV with the columns name, organisation, role, token, models, rpm, max_budget, period; or JSON
        </span>
        <input
          type="file"
          accept=".csv,.json,text/csv,application/json"
          onChange={(event) => choose(event.target.files?.[0])}
          className="control w-full py-1"
        />
      </label>
      {planned !== undefined && <Difference difference={planned.difference} />}
      {planned !== undefined && <TextField label="Reason, for the audit log" name="reason" />}
    </FormDialog>
  );
}

const valueOf = (value: unknown): string => (value === null || value === undefined ? "none" : JSON.stringify(value));

/** The lines of a difference: a sign, a name, and the change. */
function linesOf({ created, changed, moved }: PeopleDifference): [sign: string, name: string, change: string][] {
  return [
    ...created.map((name): [string, string, string] => ["+", name, "is created"]),
    ...changed.map(({ name, before, after }): [string, string, string] => {
      const changes = Object.keys(after).map((key) => `${key}: ${valueOf(before[key])} → ${valueOf(after[key])}`);
      return ["~", name, changes.join("; ")];
    }),
    ...moved.map(({ name, from, to }): [string, string, string] => [
      "→",
      name,
      `from ${from ?? "no organisation"} to ${to ?? "no organisation"}`,
    ]),
  ];
}

function Difference({ difference }: { difference: PeopleDifference }) {
  const { created, changed, moved, unchanged, tokens } = difference;
  return (
    <div role="status">
      <p className="text-soft">
        {created.length} created, {changed.length} changed, {moved.length} moved, {unchanged.length} unchanged;{" "}
        {tokens.length} new tokens.
      </p>
      <ul
        tabIndex={0}
        aria-label="The difference"
        className="mt-2 max-h-56 overflow-y-auto rounded-lg bg-sunken p-3 text-xs"
      >
        {linesOf(difference).map(([sign, name, change]) => (
          <li key={`${sign} ${name}`} className="[overflow-wrap:anywhere]">
            <span aria-hidden="true">{sign}</span> <span className="font-medium">{name}</span>{" "}
            <span className="text-soft">{change}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Applied({ difference }: { difference: PeopleDifference }) {
  const { created, changed, moved, tokens } = difference;
  const save = () => {
    const rows = tokens.map(({ name, token_id: id, token }) => [name, id ?? "", token ?? ""]);
    download("tokens.csv", csvOf([["name", "token_id", "token"], ...rows]), "text/csv");
  };
  return (
    <div role="status">
      <p className="text-soft">
        Applied: {created.length} created, {changed.length} changed, {moved.length} moved.
        {tokens.length > 0 && " The secrets of the new tokens can be saved only now."}
      </p>
      {tokens.length > 0 && (
        <div className="mt-4 flex justify-end">
          <Button kind="primary" onClick={save}>
            Save {tokens.length} secrets
          </Button>
        </div>
      )}
    </div>
  );
}
