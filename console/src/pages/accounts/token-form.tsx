import { request, send } from "../../api/client.ts";
import { useSession } from "../../api/use-session.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { LinesField, TextField } from "../../ui/text-field.tsx";
import { changesOf, shownFields } from "./account-changes.ts";
import { AmountFields, type FieldsProps, LimitFields, ModelsField, MoreFields } from "./limit-fields.tsx";
import { may, payersFields } from "./rights.ts";
import { Secret } from "./secret.tsx";
import type { Token, TokenWithSecret } from "./types.ts";

const PATH = "/admin/v1/tokens";

/** Makes a token, and shows its secret once. */
export function NewToken() {
  const { role, user } = useSession();
  const before = shownFields("tokens");
  return (
    <FormDialog
      word="New token"
      kind="primary"
      title="New token"
      confirm="Create"
      act={(text) => {
        const owner = text("user");
        const body = { ...changesOf("tokens", text), ...(owner !== "" && { user: owner }) };
        return request<TokenWithSecret>(PATH, { method: "POST", body });
      }}
      shown={(token) => <Secret token={token} />}
    >
      <TextField label="Name" name="name" isRequired />
      {may(role, "make", "tokens") && <TextField label={`For the user; by default ${user}`} name="user" />}
      <details>
        <summary className="cursor-pointer text-[0.8125rem] text-soft">Limits</summary>
        <div className="mt-3 space-y-4">
          <TokenLimits before={before} />
        </div>
      </details>
    </FormDialog>
  );
}

/** Changes the name and the limits of a token. */
export function ChangeToken({ token }: { token: Token }) {
  const before = shownFields("tokens", token);
  const { role } = useSession();
  const only = role === "billing" ? payersFields : undefined;
  const title = `Change ${token.name ?? token.id}`;
  return (
    <FormDialog
      word="Change"
      label={title}
      title={title}
      confirm="Save"
      act={(text) => {
        const body = changesOf("tokens", text, token, only);
        return send(`${PATH}/${encodeURIComponent(token.id)}`, { method: "PATCH", body, reason: text("reason") });
      }}
    >
      {only === undefined ? (
        <>
          <TextField label="Name" name="name" value={before["name"] ?? ""} isRequired />
          <TokenLimits before={before} />
        </>
      ) : (
        <AmountFields before={before} />
      )}
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}

function TokenLimits({ before }: FieldsProps) {
  return (
    <>
      <ModelsField before={before} />
      <LimitFields before={before} />
      <MoreFields before={before}>
        <LinesField
          label="Tags of its calls, each on a line"
          name="metadata"
          value={before["metadata"] ?? ""}
          placeholder={"team=search\nfeature=chat"}
        />
      </MoreFields>
    </>
  );
}
