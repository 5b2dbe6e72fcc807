import { useEffect, useState } from "react";
import { followCalls } from "../../api/call-stream.ts";
import type { Generation } from "../../api/types.ts";

/** Rows that are kept of a stream: older ones leave. */
const ROWS_MAX = 500;

/** How often the rows are drawn, however many calls there are. */
const DRAW_MS = 250;

export interface Tail {
  calls: readonly Generation[];
  /** Calls that were not shown, by the gateway or here. */
  leftOut: number;
  error: Error | undefined;
}

const nothing: Tail = { calls: [], leftOut: 0, error: undefined };

/** The calls that end from now on, newest first, while `isOn`. */
export function useTail(address: string, isOn: boolean): Tail {
  const [tail, setTail] = useState(nothing);

  useEffect(() => {
    setTail(nothing);
    if (!isOn) return undefined;
    const held = { calls: [] as Generation[], leftOut: 0 };

    const draw = () => {
      if (held.calls.length === 0 && held.leftOut === 0) return;
      const { calls, leftOut } = { ...held };
      held.calls = [];
      held.leftOut = 0;
      setTail((before) => ({
        ...before,
        calls: [...calls.toReversed(), ...before.calls].slice(0, ROWS_MAX),
        leftOut: before.leftOut + leftOut,
      }));
    };
    const timer = setInterval(draw, DRAW_MS);
    const abort = new AbortController();
    followCalls(address, {
      onCalls: (calls) => {
        held.calls.push(...calls);
        const excess = held.calls.length - ROWS_MAX;
        if (excess > 0) held.leftOut += held.calls.splice(0, excess).length;
      },
      onLeftOut: (calls) => {
        held.leftOut += calls;
      },
      signal: abort.signal,
    }).then(
      () => setTail((before) => ({ ...before, error: new Error("The gateway has ended the stream.") })),
      (reason: unknown) => {
        if (!abort.signal.aborted)
          setTail((before) => ({ ...before, error: reason instanceof Error ? reason : new Error(String(reason)) }));
      },
    );
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [address, isOn]);
  return tail;
}
