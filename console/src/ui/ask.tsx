import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation } from "@tanstack/react-query";
import { type ReactElement, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { type FieldText, textIn } from "./field-text.ts";
import { FreshSignIn, signInAgain } from "./fresh-sign-in.tsx";

interface AskProps {
  /** The button that opens the question. */
  trigger: ReactElement;
  title: string;
  /** The effects, in a sentence. */
  children: ReactNode;
  /** The word on the button that does it. */
  confirm: string;
  isDangerous?: boolean;
  /** Does it; its error is shown in the dialog, which stays. */
  act: (reason: string) => Promise<unknown>;
}

/** A question before an act that others notice. Its reason goes into the audit log. A fresh sign-in is asked for if the gateway wants one. */
export function Ask({ trigger, title, children, confirm, isDangerous = false, act }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (text: FieldText) => {
      await signInAgain(text);
      return act(text("reason"));
    },
    onSuccess: () => setOpen(false),
  });
  const change = (open: boolean) => {
    reset();
    setOpen(open);
  };
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={change}>
      <AlertDialog.Trigger render={trigger} />
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <AlertDialog.Popup className="popup fixed top-1/2 left-1/2 z-50 w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 p-5">
          <AlertDialog.Title className="text-base font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-2 text-soft">{children}</AlertDialog.Description>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              mutate(textIn(event.currentTarget));
            }}
          >
            <label className="mt-4 block">
              <span className="mb-1 block text-xs text-muted">Reason, for the audit log</span>
              <input name="reason" maxLength={500} autoComplete="off" className="control w-full" />
            </label>
            <div className="mt-4 empty:hidden">
              <FreshSignIn error={error} />
            </div>
            {error !== null && (
              <p role="alert" className="mt-3 text-bad">
                {error.message}
              </p>
            )}
            <div className="mt-5 flex justify-end gap-2">
              <AlertDialog.Close render={<Button>Cancel</Button>} />
              <Button type="submit" kind={isDangerous ? "danger" : "primary"} disabled={isPending}>
                {confirm}
              </Button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
