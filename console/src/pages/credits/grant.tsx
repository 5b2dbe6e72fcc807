import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { ApiError, send } from "../../api/client.ts";
import { signIn } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Modal } from "../../ui/modal.tsx";
import { SelectField } from "../../ui/select-field.tsx";

const owners = { organisation: "Organisation", user: "User", project: "Project" };

type Owner = keyof typeof owners;

interface Wanted {
  owner: Owner;
  name: string;
  amount: string;
  reason: string;
  /** Signs in afresh before, as the gateway asks for after some minutes. */
  token: string;
}

async function grant({ owner, name, amount, reason, token }: Wanted): Promise<void> {
  if (token !== "") await signIn({ token });
  const body = { [owner]: name, amount: Number(amount), reason };
  await send("/admin/v1/credits", { method: "POST", body });
}

/** Adds credits to a balance, or takes back what is neither spent nor held. */
export function Grant() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Grant credits
      </Button>
      <Modal title="Grant credits" isOpen={isOpen} close={() => setOpen(false)}>
        <GrantForm done={() => setOpen(false)} />
      </Modal>
    </>
  );
}

const isNotFresh = (error: Error | null): boolean =>
  error instanceof ApiError && error.code === "fresh_sign_in_required";

function GrantForm({ done }: { done: () => void }) {
  const client = useQueryClient();
  const [owner, setOwner] = useState<Owner>("organisation");
  const { mutate, error, isPending } = useMutation({
    mutationFn: grant,
    onSuccess: async () => {
      done();
      await client.invalidateQueries({ queryKey: ["list"] });
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    mutate({ owner, name: text("name"), amount: text("amount"), reason: text("reason"), token: text("token") });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <div className="grid grid-cols-[9rem_minmax(0,1fr)] gap-3">
        <SelectField label="To" value={owner} options={owners} onChange={setOwner} />
        <Field label="Name or id" name="name" />
      </div>
      <Field label="Credits; below zero takes them back" name="amount" pattern="-?\d+(\.\d{1,9})?" mode="decimal" />
      <Field label="Reason, for the audit log" name="reason" />
      {isNotFresh(error) && (
        <Field label="Your token, since you have signed in some time ago" name="token" type="password" />
      )}
      {error !== null && (
        <p role="alert" className="text-bad [overflow-wrap:anywhere]">
          {error.message}
        </p>
      )}
      <div className="flex justify-end">
        <Button type="submit" kind="primary" disabled={isPending}>
          Grant
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  label: string;
  name: string;
  type?: "text" | "password";
  pattern?: string;
  mode?: "text" | "decimal";
}

function Field({ label, name, type = "text", pattern, mode = "text" }: FieldProps) {
  return (
    <label className="block">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        name={name}
        type={type}
        required
        inputMode={mode}
        {...(pattern !== undefined && { pattern })}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
    </label>
  );
}
