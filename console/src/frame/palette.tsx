import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { useSession } from "../api/use-session.ts";
import { pagesFor } from "../app/navigation.ts";
import { Icon } from "../ui/icon.tsx";

interface PaletteProps {
  isOpen: boolean;
  close: () => void;
}

/**
 * A dialog in which the name of a page, or the id of a call, and Enter go there. It is the browser's own: it is there at once, so that
 * nothing that somebody types after Ctrl-K is lost while code is loaded.
 */
export function Palette({ isOpen, close }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-label="Go to"
      onClose={close}
      onClick={({ target }) => target === dialog.current && close()}
      className="popup fixed top-[15vh] left-1/2 m-0 w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden backdrop:bg-black/40"
    >
      {isOpen && <Choices close={close} />}
    </dialog>
  );
}

function Choices({ close }: { close: () => void }) {
  const { role } = useSession();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = text.trim().toLowerCase();
  const choices = [
    ...pagesFor(role)
      .filter(({ title }) => title.toLowerCase().includes(wanted))
      .toSorted((one, other) => one.title.toLowerCase().indexOf(wanted) - other.title.toLowerCase().indexOf(wanted))
      .map(({ path, title }) => ({ to: `/${path}`, label: title, icon: path as string })),
    ...(/^\S{6,}$/.test(text.trim()) && /[\d_-]/.test(text)
      ? [{ to: `/requests/${encodeURIComponent(text.trim())}`, label: `The call ${text.trim()}`, icon: "requests" }]
      : []),
  ];
  const go = (to: string | undefined) => {
    if (to === undefined) return;
    close();
    void navigate({ to });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((chosen + step + choices.length) % Math.max(1, choices.length));
    } else if (event.key === "Enter") go(choices[chosen]?.to);
  };
  return (
    <>
      <div className="flex items-center gap-2.5 border-b border-line px-4 text-muted">
        <Icon name="search" />
        <input
          role="combobox"
          autoFocus
          aria-label="Page or id of a call"
          aria-expanded="true"
          aria-controls="palette-choices"
          {...(choices.length > 0 && { "aria-activedescendant": `palette-${chosen}` })}
          placeholder="Page, or id of a call"
          autoComplete="off"
          spellCheck={false}
          className="h-12 flex-1 bg-transparent text-base text-ink outline-none"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <ul id="palette-choices" role="listbox" aria-label="Places" className="max-h-80 overflow-y-auto p-1.5">
        {choices.map(({ to, label, icon }, index) => (
          <li
            key={to}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setChosen(index)}
            onClick={() => go(to)}
            className="flex cursor-default items-center gap-2.5 truncate rounded-lg px-2.5 py-2 aria-selected:bg-hover"
          >
            <Icon name={icon} />
            {label}
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p className="px-4 pb-4 text-muted">Nothing has this name.</p>}
    </>
  );
}
