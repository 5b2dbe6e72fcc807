import { useChangeWords, useWords } from "../app/search.ts";

/** The text that the rows of a page are looked through for, in lower case. It is a word of the address. */
export function useFind(): string {
  return (useWords()["find"] ?? "").toLowerCase();
}

/** A search of the rows that are there. */
export function FindField({ label, placeholder = "" }: { label: string; placeholder?: string }) {
  const { find = "" } = useWords();
  const change = useChangeWords();
  return (
    <label className="no-print block sm:w-72">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        type="search"
        value={find}
        onChange={(event) => change({ find: event.target.value })}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
    </label>
  );
}
