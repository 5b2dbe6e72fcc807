import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type SyntheticEvent, useState } from "react";
import { ApiError } from "../api/client.ts";
import { fetchSignIns, signIn, useSession } from "../api/session.ts";
import { Button } from "./button.tsx";
import { Modal } from "./modal.tsx";
import { TextField } from "./text-field.tsx";

/** The text of a field by its name; empty if there is no such field. */
export type FieldText = (name: string) => string;

interface FormDialogProps<Answer> {
  /** On the button that opens it. */
  word: string;
  /** Of that button, if the word alone does not name the thing it acts on. */
  label?: string;
  kind?: "plain" | "primary";
  title: string;
  /** On the button that sends it. */
  confirm: string;
  /** The fields. */
  children: ReactNode;
  act: (text: FieldText) => Promise<Answer>;
  /** In the place of the fields after it has succeeded; without it the dialog closes. The fields stay for an answer that is undefined. */
  shown?: (answer: NonNullable<Answer>) => ReactNode;
  /** After it was closed: forgets what the fields do not hold themselves. */
  onClose?: () => void;
}

/** A button that opens a form. A refusal is shown in it, and a fresh sign-in is asked for if the gateway wants one. */
export function FormDialog<Answer>(props: FormDialogProps<Answer>) {
  const { word, label, kind = "plain", title, onClose } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    onClose?.();
  };
  return (
    <>
      <Button kind={kind} {...(label !== undefined && { "aria-label": label })} onClick={() => setOpen(true)}>
        {word}
      </Button>
      <Modal title={title} isOpen={isOpen} close={close}>
        <Form {...props} close={close} />
      </Modal>
    </>
  );
}

function Form<Answer>({ confirm, children, act, shown, close }: FormDialogProps<Answer> & { close: () => void }) {
  const client = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async (text: FieldText) => {
      const token = text("fresh_token");
      if (token !== "") await signIn({ token });
      return act(text);
    },
    onSuccess: async () => {
      if (shown === undefined) close();
      await client.invalidateQueries({ queryKey: ["list"] });
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    mutate((name) => {
      const value = form.get(name);
      return typeof value === "string" ? value.trim() : "";
    });
  };
  if (data !== undefined && data !== null && shown !== undefined) return shown(data);
  return (
    <form onSubmit={submit} className="space-y-4">
      {children}
      {isNotFresh(error) && <FreshSignIn />}
      {error !== null && (
        <p role="alert" className="text-bad [overflow-wrap:anywhere]">
          {error.message}
        </p>
      )}
      <div className="flex justify-end">
        <Button type="submit" kind="primary" disabled={isPending}>
          {confirm}
        </Button>
      </div>
    </form>
  );
}

const isNotFresh = (error: Error | null): boolean =>
  error instanceof ApiError && error.code === "fresh_sign_in_required";

/** Proves again who it is: by a token, or at the issuer of the session. */
function FreshSignIn() {
  const { issuer } = useSession();
  const { data = [] } = useQuery({ queryKey: ["sign-ins"], queryFn: fetchSignIns, enabled: issuer !== null });
  const place = data.find(({ name }) => name === issuer);
  if (issuer === null)
    return (
      <TextField
        label="Your token, since you have signed in some time ago"
        name="fresh_token"
        type="password"
        isRequired
      />
    );
  if (place === undefined) return null;
  const query = new URLSearchParams({ fresh: "true", return: `${location.pathname}${location.search}` });
  return (
    <p>
      <a className="text-accent underline underline-offset-4" href={`${place.url}?${query}`}>
        Sign in again with {issuer}
      </a>
      , then fill this in again.
    </p>
  );
}
