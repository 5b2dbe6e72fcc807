import { useState } from "react";
import { send } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { budgetChanges, budgetTexts } from "./budget-changes.ts";
import { AMOUNT, AmountFields, type FieldsProps } from "./limit-fields.tsx";

export const owners = { organisation: "Organisation", user: "User", project: "Project", token: "Token" };

export type Owner = keyof typeof owners;

const periods = { "": "For good", daily: "A day", weekly: "A week", monthly: "A month", quarterly: "A quarter" };

/** The amount of a budget, its period, and the models that it is for. */
export function BudgetFields({ before }: FieldsProps) {
  return (
    <>
      <AmountFields before={before} periods={periods} isRequired />
      <TextField
        label="Begins at the day of the week from Monday, day of the month, or month of the quarter; none is the first"
        name="start"
        value={before["start"] ?? ""}
        pattern="[1-9]\d?"
        mode="numeric"
      />
      <TextField label="Group of models; none is all models" name="models" value={before["models"] ?? ""} />
    </>
  );
}

/** Credits beyond a budget, until a time. */
export function RaiseFields({ before }: FieldsProps) {
  return (
    <div className="grid grid-cols-2 items-end gap-3">
      <TextField
        label="So many credits more"
        name="raise_by"
        value={before["raise_by"] ?? ""}
        pattern={AMOUNT}
        mode="decimal"
      />
      <TextField label="Until, in UTC" name="raise_until" type="datetime-local" value={before["raise_until"] ?? ""} />
    </div>
  );
}

/** Makes a budget of an account. */
export function NewBudget() {
  const [owner, setOwner] = useState<Owner>("user");
  return (
    <FormDialog
      word="New budget"
      kind="primary"
      title="New budget"
      confirm="Create"
      act={(text) => {
        const body = { [owner]: text("name"), ...budgetChanges(text) };
        return send("/admin/v1/budgets", { method: "POST", body, reason: text("reason") });
      }}
    >
      <div className="grid grid-cols-[9rem_minmax(0,1fr)] gap-3">
        <SelectField label="Of" value={owner} options={owners} onChange={setOwner} />
        <TextField label="Name or id" name="name" isRequired />
      </div>
      <BudgetFields before={budgetTexts()} />
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}
