import { useEffect, useEffectEvent } from "react";

/** Whether a key typed there is text. */
function isTyped({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

interface Shortcuts {
  palette: () => void;
  keys: () => void;
}

/** The keys that every page has: Ctrl/⌘-K, `/` for the page's search, `?` for this list. */
export function useShortcuts({ palette, keys }: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      palette();
      return;
    }
    if (isTyped(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") {
      event.preventDefault();
      keys();
    } else if (event.key === "/") {
      event.preventDefault();
      const search = document.querySelector<HTMLInputElement>("main input[type=search]");
      if (search === null) palette();
      else search.focus();
    }
  });
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
