import { request } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { Secret } from "./secret.tsx";
import type { Token, TokenWithSecret } from "./types.ts";

/** Seconds → text. */
const overlaps = {
  0: "It ends now",
  3600: "For an hour",
  86400: "For a day",
  604800: "For a week",
  2592000: "For 30 days",
};

/** Gives a token a new secret, beside which the present one counts for some time. */
export function RotateToken({ token: { id, name } }: { token: Token }) {
  const label = name ?? id;
  const path = `/admin/v1/tokens/${encodeURIComponent(id)}/rotate`;
  return (
    <FormDialog
      word="Rotate"
      label={`Rotate ${label}`}
      title={`Rotate ${label}`}
      confirm="Rotate"
      act={(text) => {
        const body = { overlap: Number(text("overlap")) };
        return request<TokenWithSecret>(path, { method: "POST", body, reason: text("reason") });
      }}
      shown={(token) => <Secret token={token} />}
    >
      <SelectField label="The present secret" name="overlap" value="86400" options={overlaps} />
      <TextField label="Reason, for the audit log" name="reason" />
    </FormDialog>
  );
}
