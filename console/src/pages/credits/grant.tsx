import { useState } from "react";
import { send } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";

const owners = { organisation: "Organisation", user: "User", project: "Project" };

type Owner = keyof typeof owners;

/** Adds credits to a balance, or takes back what is neither spent nor held. */
export function Grant() {
  const [owner, setOwner] = useState<Owner>("organisation");
  return (
    <FormDialog
      word="Grant credits"
      kind="primary"
      title="Grant credits"
      confirm="Grant"
      act={(text) => {
        const body = { [owner]: text("name"), amount: Number(text("amount")), reason: text("reason") };
        return send("/admin/v1/credits", { method: "POST", body });
      }}
    >
      <div className="grid grid-cols-[9rem_minmax(0,1fr)] gap-3">
        <SelectField label="To" value={owner} options={owners} onChange={setOwner} />
        <TextField label="Name or id" name="name" isRequired />
      </div>
      <TextField
        label="Credits; below zero takes them back"
        name="amount"
        pattern="-?\d+(\.\d{1,9})?"
        mode="decimal"
        isRequired
      />
      <TextField label="Reason, for the audit log" name="reason" isRequired />
    </FormDialog>
  );
}
