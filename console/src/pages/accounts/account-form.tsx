import { send } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { changesOf, shownFields } from "./account-changes.ts";
import { AMOUNT, type FieldsProps, LimitFields, ModelsField, MoreFields } from "./limit-fields.tsx";
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
      <ModelsField before={before} />
      <LimitFields before={before} />
      <MoreFields before={before}>
        <SelectField
          label="Limited by credits of its own"
          name="prepaid"
          value={before["prepaid"] ?? ""}
          options={isNew ? { "": "By default", true: "Yes", false: "No" } : { true: "Yes", false: "No" }}
        />
        {kind === "organisations" && <OrganisationFields before={before} />}
      </MoreFields>
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}

/** The fields that organisations alone have. */
function OrganisationFields({ before }: FieldsProps) {
  return (
    <>
      <TextField
        label="Factor on prices; none is the configuration’s"
        name="markup"
        value={before["markup"] ?? ""}
        pattern={AMOUNT}
        mode="decimal"
      />
      <TextField label="Keys of its calls’ tags" name="tags" value={before["tags"] ?? ""} placeholder="team, feature" />
      <SelectField
        label="Its members make tokens"
        name="policy"
        value={before["policy"] ?? ""}
        options={{ "": "None", bounds: "Within these bounds" }}
      />
      <div className="grid grid-cols-3 items-end gap-3">
        <TextField
          label="Tokens of a user"
          name="policy_tokens"
          value={before["policy_tokens"] ?? ""}
          pattern="\d{1,5}"
          mode="numeric"
        />
        <TextField
          label="Days of a token"
          name="policy_days"
          value={before["policy_days"] ?? ""}
          pattern={AMOUNT}
          mode="decimal"
        />
        <TextField
          label="Credits of a token"
          name="policy_budget"
          value={before["policy_budget"] ?? ""}
          pattern={AMOUNT}
          mode="decimal"
        />
      </div>
    </>
  );
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
