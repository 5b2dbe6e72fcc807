import { useState } from "react";
import { SelectField } from "../ui/select-field.tsx";
import { daysLater, nameOf, namedPeriods, type Period, type PeriodName, today, usualPeriod } from "./period.ts";

interface PeriodFieldProps {
  period: Period;
  /** The words of the address; the usual period has none. */
  onChange: (words: { from: string | undefined; to: string | undefined }) => void;
}

const names = Object.fromEntries(Object.keys(namedPeriods).map((name) => [name, name])) as Record<PeriodName, string>;

/** A period by its name, or by its first and last day. */
export function PeriodField({ period, onChange }: PeriodFieldProps) {
  const name = nameOf(period);
  const [isOpen, setOpen] = useState(name === undefined);
  const choose = (chosen: PeriodName | "other") => {
    setOpen(chosen === "other");
    if (chosen === "other") return;
    onChange(chosen === usualPeriod ? { from: undefined, to: undefined } : namedPeriods[chosen](today()));
  };
  return (
    <div className="contents">
      <SelectField
        label="Period"
        value={isOpen || name === undefined ? "other" : name}
        options={{ ...names, other: "From … to …" }}
        onChange={choose}
        className="sm:w-36"
      />
      {(isOpen || name === undefined) && (
        <>
          <DateField label="First day" value={period.from} onChange={(from) => onChange({ from, to: period.to })} />
          <DateField
            label="Last day"
            value={daysLater(period.to, -1)}
            onChange={(last) => onChange({ from: period.from, to: daysLater(last, 1) })}
          />
        </>
      )}
    </div>
  );
}

interface DateFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function DateField({ label, value, onChange }: DateFieldProps) {
  return (
    <label className="block min-w-0">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        type="date"
        value={value}
        onChange={(event) => event.target.value !== "" && onChange(event.target.value)}
        className="control w-full"
      />
    </label>
  );
}
