/** Clients that call without a pause, and repeat once on a closed connection, as SDKs and proxies do. */
import { chatPath } from "./rig.ts";

interface SteadyOptions {
  url: string;
  token: string;
  model: string;
  /** As many as until `stop`, without it. */
  count?: number;
  /** Calls at once. */
  atOnce: number;
  /** At most so many a second; as many as there can be without it. */
  aSecond?: number;
  /** Whether each call has a retry key, so that one whose answer was lost is not charged twice. */
  hasKeys?: boolean;
  /** Of the keys. */
  prefix?: string;
}

export interface SteadyCallers {
  /** Calls that have ended so far. */
  ended: () => number;
  /** Begins no further call. */
  stop: () => void;
  /** Resolves at the end with the answers that are not 200. */
  failures: Promise<string[]>;
}

export function startSteadyCallers({
  url,
  token,
  model,
  count = Number.POSITIVE_INFINITY,
  atOnce,
  aSecond,
  hasKeys,
  prefix = "call",
}: SteadyOptions): SteadyCallers {
  const failures: string[] = [];
  const startedAt = performance.now();
  let [begun, ended, limit] = [0, 0, count];
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] });
  const once = async (key: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + chatPath, {
      method: "POST",
      body,
      headers: hasKeys === true ? { ...headers, "idempotency-key": key } : headers,
    });
    const text = await answer.text();
    // Its first attempt is not over: SDKs ask again.
    if (answer.status === 409 && text.includes("idempotency_key_in_use")) {
      await Bun.sleep(100);
      return once(key);
    }
    return answer.status === 200 ? "" : `${answer.status} ${text}`;
  };
  const caller = async (): Promise<void> => {
    while (begun < limit) {
      const number = (begun += 1);
      if (aSecond !== undefined)
        await Bun.sleep(Math.max(0, startedAt + (number * 1_000) / aSecond - performance.now()));
      const key = `${prefix}-${number}`;
      const failure = await once(key).catch(() => once(key).catch(String));
      if (failure !== "") failures.push(failure);
      ended += 1;
    }
  };
  return {
    ended: () => ended,
    stop: () => void (limit = begun),
    failures: Promise.all(Array.from({ length: atOnce }, caller)).then(() => failures),
  };
}
