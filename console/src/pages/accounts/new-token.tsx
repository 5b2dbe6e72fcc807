import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { request } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Modal } from "../../ui/modal.tsx";
import type { TokenWithSecret } from "./types.ts";

const PATH = "/admin/v1/tokens";

/** Those who make tokens of others. */
const managers = new Set(["owner", "organisation_admin"]);

/** Makes a token, and shows its secret once. */
export function NewToken() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        New token
      </Button>
      <Modal title="New token" isOpen={isOpen} close={() => setOpen(false)}>
        <TokenForm />
      </Modal>
    </>
  );
}

function TokenForm() {
  const { role, user } = useSession();
  const client = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (body: object) => request<TokenWithSecret>(PATH, { method: "POST", body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["list"] }),
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const owner = form.get("user");
    mutate({ name: form.get("name"), ...(typeof owner === "string" && owner.trim() !== "" && { user: owner.trim() }) });
  };
  if (data !== undefined) return <Secret token={data} />;
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label="Name" name="name" isRequired />
      {managers.has(role) && <Field label={`For the user; by default ${user}`} name="user" />}
      {error !== null && (
        <p role="alert" className="text-bad [overflow-wrap:anywhere]">
          {error.message}
        </p>
      )}
      <div className="flex justify-end">
        <Button type="submit" kind="primary" disabled={isPending}>
          Create
        </Button>
      </div>
    </form>
  );
}

function Field({ label, name, isRequired = false }: { label: string; name: string; isRequired?: boolean }) {
  return (
    <label className="block">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        name={name}
        required={isRequired}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
    </label>
  );
}

function Secret({ token: { name, token } }: { token: TokenWithSecret }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(token ?? "");
    setCopied(true);
  };
  return (
    <div role="status">
      <p className="text-soft">The secret of {name}. It is shown only now: keep it where your program reads it.</p>
      <code className="mt-3 block rounded-lg border border-line bg-sunken p-3 font-mono text-xs break-all select-all">
        {token}
      </code>
      <div className="mt-4 flex justify-end">
        <Button onClick={() => void copy().catch(() => undefined)}>{isCopied ? "Copied" : "Copy"}</Button>
      </div>
    </div>
  );
}
