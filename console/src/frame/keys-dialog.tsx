import { Modal } from "../ui/modal.tsx";

const keys = [
  ["Ctrl K  or  ⌘ K", "Go to a page, or to a call by its id"],
  ["/", "Search on this page"],
  ["?", "This list"],
  ["Esc", "Close a dialog or a menu"],
] as const;

export function KeysDialog({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <Modal title="Keys" isOpen={isOpen} close={close}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-3">
        {keys.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded-md border border-line-strong bg-sunken px-1.5 py-0.5 font-sans text-xs whitespace-pre">
                {key}
              </kbd>
            </dt>
            <dd className="text-soft">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
