import { Dialog } from "@base-ui/react/dialog";
import { KeysDialog } from "./keys-dialog.tsx";
import { Sidebar } from "./sidebar.tsx";

export type DialogName = "palette" | "keys" | "navigation";

interface DialogsProps {
  /** Undefined while all are closed. */
  open: DialogName | undefined;
  openPalette: () => void;
  close: () => void;
}

/** The dialogs that every page has beside the palette. They are loaded with the first one that is opened. */
export function Dialogs({ open, openPalette, close }: DialogsProps) {
  return (
    <>
      <Dialog.Root open={open === "navigation"} onOpenChange={close}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-30 bg-black/40" />
          <Dialog.Popup className="fixed inset-y-0 left-0 z-40 w-64 border-r border-line bg-surface">
            <Dialog.Title className="sr-only">Navigation</Dialog.Title>
            <Sidebar openPalette={openPalette} onNavigate={close} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <KeysDialog isOpen={open === "keys"} close={close} />
    </>
  );
}
