import type { ReactNode } from "react";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";

/** The limits of an account or a token as fields. */
export interface FieldsProps {
  /** Field → its text at the beginning. */
  before: Readonly<Record<string, string>>;
}

const WHOLE = "[1-9]\\d{0,8}";

/** The pattern of an amount of credits. */
export const AMOUNT = "\\d+(\\.\\d{1,9})?";

const periods = { "": "For good", daily: "A day", monthly: "A month" };

export function ModelsField({ before }: FieldsProps) {
  return (
    <TextField
      label="Models that it may use, with * for any text; none is all"
      name="models"
      value={before["models"] ?? ""}
      placeholder="openai/*, anthropic/claude-*"
    />
  );
}

export function LimitFields({ before }: FieldsProps) {
  return (
    <>
      <div className="grid grid-cols-3 items-end gap-3">
        <TextField label="Calls a minute" name="rpm" value={before["rpm"] ?? ""} pattern={WHOLE} mode="numeric" />
        <TextField label="Tokens a minute" name="tpm" value={before["tpm"] ?? ""} pattern={WHOLE} mode="numeric" />
        <TextField
          label="At once"
          name="concurrency"
          value={before["concurrency"] ?? ""}
          pattern={WHOLE}
          mode="numeric"
        />
      </div>
      <AmountFields before={before} />
    </>
  );
}

/** The credits of a budget, and the period in which they may be spent. */
export function AmountFields({
  before,
  periods: offered = periods,
  isRequired = false,
}: FieldsProps & { periods?: Readonly<Record<string, string>>; isRequired?: boolean }) {
  return (
    <div className="grid grid-cols-2 items-end gap-3">
      <TextField
        label="At most so many credits"
        name="max_budget"
        value={before["max_budget"] ?? ""}
        pattern={AMOUNT}
        mode="decimal"
        isRequired={isRequired}
      />
      <SelectField label="In" name="period" value={before["period"] ?? ""} options={offered} />
    </div>
  );
}

/** The fields that few accounts need. */
export function MoreFields({ before, children }: FieldsProps & { children?: ReactNode }) {
  return (
    <details>
      <summary className="cursor-pointer text-[0.8125rem] text-soft">More</summary>
      <div className="mt-3 space-y-4">
        <TextField
          label="Tools that it may call, with * for any text and ! for those it may not; none is all"
          name="tools"
          value={before["tools"] ?? ""}
          placeholder="docs.*, !docs.delete"
        />
        <TextField label="Expires, in UTC" name="expires_at" type="datetime-local" value={before["expires_at"] ?? ""} />
        {children}
      </div>
    </details>
  );
}
