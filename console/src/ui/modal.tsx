import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface ModalProps {
  title: string;
  isOpen: boolean;
  close: () => void;
  children: ReactNode;
}

/** A dialog in the middle of the page, with its title and a button that closes it. */
export function Modal({ title, isOpen, close, children }: ModalProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={close}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="popup fixed top-1/2 left-1/2 z-50 max-h-[85dvh] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto p-5">
          <div className="mb-4 flex items-center justify-between">
            <Dialog.Title className="text-base font-semibold">{title}</Dialog.Title>
            <Dialog.Close
              render={
                <IconButton label="Close">
                  <Icon name="close" />
                </IconButton>
              }
            />
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
