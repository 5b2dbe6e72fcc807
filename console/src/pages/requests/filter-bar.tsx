import { useNavigate } from "@tanstack/react-router";
import { type SyntheticEvent, useState } from "react";
import { useReach } from "../../api/use-session.ts";
import { type Grouping, groupingOptions, groupingsFor, groupingText } from "../../reports/dimensions.ts";
import { PeriodField } from "../../reports/period-field.tsx";
import { periodOf } from "../../reports/period.ts";
import { useTagKeys } from "../../reports/tag-keys.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import type { CallFilter } from "./requests-query.ts";

interface FilterBarProps {
  filter: CallFilter;
  change: (words: Record<string, string | undefined>) => void;
}

/** The search by id, the period, the status, and further filters. */
export function FilterBar({ filter, change }: FilterBarProps) {
  const { from, to, status } = filter;
  const period = periodOf({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
  return (
    <div className="no-print mb-4 grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap">
      <IdField />
      <PeriodField period={period} onChange={change} />
      <SelectField
        label="Status"
        value={status}
        options={{ "": "All", ok: "ok", failed: "failed" }}
        onChange={(value) => change({ status: value })}
        className="sm:w-28"
      />
      <AddFilter change={change} />
    </div>
  );
}

/** Any id of a call opens its story: ours, the caller's, or the provider's. */
function IdField() {
  const navigate = useNavigate();
  const open = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = new FormData(event.currentTarget).get("id");
    if (typeof id === "string" && id.trim() !== "") void navigate({ to: `/requests/${encodeURIComponent(id.trim())}` });
  };
  return (
    <form onSubmit={open} className="col-span-2 sm:w-64">
      <label className="block">
        <span className="mb-1 block text-xs text-muted">Find a call</span>
        <input
          type="search"
          name="id"
          placeholder="Any id, then Enter"
          autoComplete="off"
          spellCheck={false}
          className="control w-full"
        />
      </label>
    </form>
  );
}

function AddFilter({ change }: Pick<FilterBarProps, "change">) {
  const { seesAll } = useReach();
  const tagKeys = useTagKeys([]);
  const [grouping, setGrouping] = useState<Grouping>(seesAll ? "user" : "model");
  const add = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get("value");
    if (typeof value !== "string" || value.trim() === "") return;
    change({ [grouping]: value.trim() });
    event.currentTarget.reset();
  };
  const options = groupingOptions(groupingsFor(seesAll, tagKeys));
  return (
    <form onSubmit={add} className="col-span-2 flex items-end gap-3">
      <SelectField label="Filter by" value={grouping} options={options} onChange={setGrouping} className="w-32" />
      <label className="block min-w-0 flex-1 sm:w-44">
        <span className="mb-1 block text-xs text-muted">{groupingText(grouping)}</span>
        <input name="value" autoComplete="off" spellCheck={false} className="control w-full" />
      </label>
      <Button type="submit">Add</Button>
    </form>
  );
}
