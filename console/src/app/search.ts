import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Search } from "./search-words.ts";

/** The words of the address's query: the API's own, as texts. */
export function useWords(): Search {
  const words: Search = useSearch({ strict: false });
  return words;
}

/** Changes words of the query; those that become undefined leave it. */
export function useChangeWords(): (changes: Readonly<Record<string, string | undefined>>) => void {
  const navigate = useNavigate();
  const words = useWords();
  return (changes) => {
    const changed = Object.entries({ ...words, ...changes }).filter(([, value]) => value !== undefined && value !== "");
    void navigate({ to: ".", search: Object.fromEntries(changed), replace: true });
  };
}
