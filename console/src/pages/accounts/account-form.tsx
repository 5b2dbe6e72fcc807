import { send } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { changesOf, shownFields } from "./account-changes.ts";
import type { AccountKind, NamedAccount } from "./types.ts";

const one: Readonly<Record<AccountKind, string>> = {
  users: "user",
  projects: "project",
  organisations: "organisation",
};

const roles = {
  member: "Member",
  organisation_admin: "Organisation admin",
  auditor: "Auditor",
  billing: "Billing",
  operator: "Operator",
  owner: "Owner",
};

const periods = { "": "For good", daily: "A day", monthly: "A month" };

interface AccountFormProps {
  kind: AccountKind;
  /** The account that is changed; without it, one is made. */
  account?: NamedAccount;
}

/** Makes an account, or changes the name, the place and the limits of one. */
export function AccountForm({ kind, account }: AccountFormProps) {
  const path = `/admin/v1/${kind}`;
  const before = shownFields(kind, account);
  const isNew = account === undefined;
  const title = isNew ? `New ${one[kind]}` : `Change ${account.name}`;
  return (
    <FormDialog
      word={isNew ? title : "Change"}
      {...(!isNew && { label: title })}
      kind={isNew ? "primary" : "plain"}
      title={title}
      confirm={isNew ? "Create" : "Save"}
      act={(text) => {
        const body = changesOf(kind, text, account);
        const reason = text("reason");
        if (isNew) return send(path, { method: "POST", body, reason });
        return send(`${path}/${encodeURIComponent(account.id)}`, { method: "PATCH", body, reason });
      }}
    >
      <TextField label="Name" name="name" value={before["name"] ?? ""} pattern="[\w.@+\-]{1,128}" isRequired />
      {kind !== "organisations" && <PlaceFields kind={kind} before={before} isNew={isNew} />}
      <TextField
        label="Models that it may use, with * for any text; none is all"
        name="models"
        value={before["models"] ?? ""}
        placeholder="openai/*, anthropic/claude-*"
      />
      <LimitFields before={before} />
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}

interface FieldsProps {
  before: Readonly<Record<string, string>>;
}

function PlaceFields({ kind, before, isNew }: FieldsProps & { kind: AccountKind; isNew: boolean }) {
  const { role } = useSession();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label={isNew ? "Organisation, if it is in one" : "Organisation; another one moves it"}
        name="organisation"
        value={before["organisation"] ?? ""}
      />
      {kind === "projects" && <TextField label="Members, by name" name="members" value={before["members"] ?? ""} />}
      {kind === "users" &&
        (role === "owner" ? (
          <SelectField label="Role" name="role" value={before["role"] as keyof typeof roles} options={roles} />
        ) : (
          <input type="hidden" name="role" value={before["role"]} />
        ))}
    </div>
  );
}

const whole = "[1-9]\\d{0,8}";

function LimitFields({ before }: FieldsProps) {
  return (
    <>
      <div className="grid grid-cols-3 items-end gap-3">
        <TextField label="Calls a minute" name="rpm" value={before["rpm"] ?? ""} pattern={whole} mode="numeric" />
        <TextField label="Tokens a minute" name="tpm" value={before["tpm"] ?? ""} pattern={whole} mode="numeric" />
        <TextField
          label="At once"
          name="concurrency"
          value={before["concurrency"] ?? ""}
          pattern={whole}
          mode="numeric"
        />
      </div>
      <div className="grid grid-cols-2 items-end gap-3">
        <TextField
          label="At most so many credits"
          name="max_budget"
          value={before["max_budget"] ?? ""}
          pattern="\d+(\.\d{1,9})?"
          mode="decimal"
        />
        <SelectField label="In" name="period" value={before["period"] as keyof typeof periods} options={periods} />
      </div>
    </>
  );
}
