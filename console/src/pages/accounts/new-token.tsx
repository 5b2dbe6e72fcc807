import { request } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Secret } from "./secret.tsx";
import type { TokenWithSecret } from "./types.ts";

/** Those who make tokens of others. */
const managers = new Set(["owner", "organisation_admin"]);

/** Makes a token, and shows its secret once. */
export function NewToken() {
  const { role, user } = useSession();
  return (
    <FormDialog
      word="New token"
      kind="primary"
      title="New token"
      confirm="Create"
      act={(text) => {
        const owner = text("user");
        const body = { name: text("name"), ...(owner !== "" && { user: owner }) };
        return request<TokenWithSecret>("/admin/v1/tokens", { method: "POST", body });
      }}
      shown={(token) => <Secret token={token} />}
    >
      <TextField label="Name" name="name" isRequired />
      {managers.has(role) && <TextField label={`For the user; by default ${user}`} name="user" />}
    </FormDialog>
  );
}
