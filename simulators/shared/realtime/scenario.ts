/** What goes wrong in a session, selected by words of the user's last text, or of a response's instructions. */
export interface Trouble {
  /** `realtime:slow`: 20 ms between two deltas. */
  readonly slow: boolean;
  /** `realtime:flood`: deltas without end. */
  readonly flood: boolean;
  /** `realtime:cut`: the connection breaks off in the middle of the response. */
  readonly cut: boolean;
  /** `realtime:pending`: the response does not begin before it is cancelled. */
  readonly pending: boolean;
  /** `realtime:gone`: the connection breaks off before the response begins. */
  readonly gone: boolean;
  /** `realtime:close-4001`: the socket is closed with this code in the middle of the response. */
  readonly closeCode: number | undefined;
  /** `realtime:no-usage`: the response ends without usage. */
  readonly noUsage: boolean;
  /** `realtime:late`: a cancelled response ends only after half a second. */
  readonly late: boolean;
  /** `realtime:silent`: the response never ends, not even when it is cancelled. */
  readonly silent: boolean;
  /** `realtime:fail`: the response fails, with usage. */
  readonly fail: boolean;
  /** `seconds:N`: the length of the speech. */
  readonly seconds: number;
  /** `words:N`: the length of the text. */
  readonly words: number;
}

const defaultSeconds = 1;
const defaultWords = 6;
const secondsMax = 3_600;

export function readTrouble(text: string): Trouble {
  const has = (word: string): boolean => text.includes(`realtime:${word}`);
  const number = (pattern: RegExp): number | undefined => {
    const [, digits] = pattern.exec(text) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  return {
    slow: has("slow"),
    flood: has("flood"),
    cut: has("cut"),
    pending: has("pending"),
    gone: has("gone"),
    closeCode: number(/realtime:close-(\d{4})/),
    noUsage: has("no-usage"),
    late: has("late"),
    silent: has("silent"),
    fail: has("fail"),
    seconds: Math.min(number(/seconds:(\d+)/) ?? defaultSeconds, secondsMax),
    words: number(/words:(\d+)/) ?? defaultWords,
  };
}
