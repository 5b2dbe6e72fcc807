import { CallAborter, type CallSignal } from "../core/index.ts";

export interface RequestTimeout {
  signal: CallSignal;
  /** Must be called when the request is over. */
  end(): void;
}

/** A signal that is aborted after this time, with the reason `late`, and when the caller's is, with that one's reason. */
export function requestTimeout(outer: CallSignal, milliseconds: number, late: Error): RequestTimeout {
  const abort = new CallAborter();
  const follow = { handleEvent: () => abort.abort(outer.reason) };
  const timer = setTimeout(() => abort.abort(late), milliseconds);
  if (outer.aborted) follow.handleEvent();
  else outer.addEventListener("abort", follow);
  return {
    signal: abort.signal,
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", follow);
    },
  };
}
