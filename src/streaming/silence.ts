import type { Ticker } from "./ticker.ts";

/** A watch over something that should keep making a sound. */
export interface SilenceWatch {
  /** Something was heard: the wait starts anew. */
  heard(): void;
  end(): void;
}

/** Calls back once, where nothing has been heard for `milliseconds` and the watch has not been ended. */
export function watchSilence(ticker: Ticker, milliseconds: number, onSilent: () => void): SilenceWatch {
  let end = ticker.after(milliseconds, onSilent);
  return {
    heard() {
      end();
      end = ticker.after(milliseconds, onSilent);
    },
    end: () => end(),
  };
}
