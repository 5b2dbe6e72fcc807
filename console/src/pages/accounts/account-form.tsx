import { send } from "../../api/client.ts";
import { useSession } from "../../api/use-session.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { changesOf, shownFields } from "./account-changes.ts";
import { AMOUNT, AmountFields, type FieldsProps, LimitFields, ModelsField, MoreFields } from "./limit-fields.tsx";
import { payersFields } from "./rights.ts";
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
  const { role } = useSession();
  const only = role === "billing" ? payersFields : undefined;
  const title = isNew ? `New ${one[kind]}` : `Change ${account.name}`;
  return (
    <FormDialog
      word={isNew ? title : "Change"}
      {...(!isNew && { label: title })}
      kind={isNew ? "primary" : "plain"}
      title={title}
      confirm={isNew ? "Create" : "Save"}
      act={(text) => {
        const body = changesOf(kind, text, account, only);
        const reason = text("reason");
        if (isNew) return send(path, { method: "POST", body, reason });
        return send(`${path}/${encodeURIComponent(account.id)}`, { method: "PATCH", body, reason });
      }}
    >
      {only === undefined ? (
        <AllFields kind={kind} before={before} isNew={isNew} />
      ) : (
        <>
          <AmountFields before={before} />
          <PrepaidField before={before} isNew={isNew} />
          {kind === "organisations" && <MarkupField before={before} />}
        </>
      )}
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}

type PartProps = FieldsProps & { kind: AccountKind; isNew: boolean };

function AllFields({ kind, before, isNew }: PartProps) {
  return (
    <>
      <TextField label="Name" name="name" value={before["name"] ?? ""} pattern="[\w.@+\-]{1,128}" isRequired />
      {kind !== "organisations" && <PlaceFields kind={kind} before={before} isNew={isNew} />}
      <ModelsField before={before} />
      <LimitFields before={before} />
      <MoreFields before={before}>
        <PrepaidField before={before} isNew={isNew} />
        {kind === "organisations" && <OrganisationFields before={before} />}
      </MoreFields>
    </>
  );
}

function PrepaidField({ before, isNew }: Omit<PartProps, "kind">) {
  return (
    <SelectField
      label="Limited by credits of its own"
      name="prepaid"
      value={before["prepaid"] ?? ""}
      options={isNew ? { "": "By default", true: "Yes", false: "No" } : { true: "Yes", false: "No" }}
    />
  );
}

function MarkupField({ before }: FieldsProps) {
  return (
    <TextField
      label="Factor on prices; none is the configuration’s"
      name="markup"
      value={before["markup"] ?? ""}
      pattern={AMOUNT}
      mode="decimal"
    />
  );
}

/** The fields that organisations alone have. */
function OrganisationFields({ before }: FieldsProps) {
  return (
    <>
      <MarkupField before={before} />
      <TextField label="Keys of its calls’ tags" name="tags" value={before["tags"] ?? ""} placeholder="team, feature" />
      <SelectField
        label="Its members make tokens"
        name="policy"
        value={before["policy"] ?? ""}
        options={{ "": "None", bounds: "Within these bounds" }}
      />
      <div className="grid grid-cols-2 items-end gap-3">
        <TextField
          label="A token lives at most"
          name="policy_expires"
          value={before["policy_expires"] ?? ""}
          pattern="[1-9]\d{0,8}"
          mode="numeric"
        />
        <SelectField
          label="In"
          name="policy_unit"
          value={before["policy_unit"] ?? "days"}
          options={{ days: "Days", hours: "Hours", minutes: "Minutes", seconds: "Seconds" }}
        />
        <TextField
          label="Tokens of a user"
          name="policy_tokens"
          value={before["policy_tokens"] ?? ""}
          pattern="\d{1,5}"
          mode="numeric"
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

function PlaceFields({ kind, before, isNew }: PartProps) {
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
