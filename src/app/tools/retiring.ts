import type { Services } from "../../http/index.ts";

/** Streams of changes end with their configuration: clients open them again. */
export function retiring(): Pick<Services["mcp"], "onRetire" | "retire"> {
  const callbacks = new Set<() => void>();
  return {
    onRetire: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    retire: () => {
      for (const callback of callbacks) callback();
    },
  };
}
