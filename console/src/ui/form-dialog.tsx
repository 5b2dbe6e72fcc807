import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type SyntheticEvent, useState } from "react";
import { Button } from "./button.tsx";
import { type FieldText, textIn } from "./field-text.ts";
import { FreshSignIn, signInAgain } from "./fresh-sign-in.tsx";
import { Modal } from "./modal.tsx";

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
      await signInAgain(text);
      return act(text);
    },
    onSuccess: async () => {
      // The dialog closes after the list was read again: a changed row resets its form, which the user could have reopened by then.
      await client.invalidateQueries({ queryKey: ["list"] });
      if (shown === undefined) close();
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(textIn(event.currentTarget));
  };
  if (data !== undefined && data !== null && shown !== undefined) return shown(data);
  return (
    <form onSubmit={submit} className="space-y-4">
      {children}
      <FreshSignIn error={error} />
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
