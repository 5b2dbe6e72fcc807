/** Chat calls of one caller at fixed times, few enough that one process sends them beside whatever else it measures. */
import { Samples } from "../load/samples.ts";

export interface ChatFigures {
  /** Milliseconds of a call from the time at which it was due. */
  p50: number;
  p99: number;
  calls: number;
}

interface ChatLoad {
  url: string;
  token: string;
  perSecond: number;
  seconds: number;
}

/** Sends each call when it is due, whether or not earlier ones have been answered. Calls that fail are not counted. */
export async function chatAtFixedTimes({ url, token, perSecond, seconds }: ChatLoad): Promise<ChatFigures> {
  const samples = new Samples();
  const begun = performance.now();
  let calls = 0;
  const call = async (due: number): Promise<void> => {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/bench-model", messages: [{ role: "user", content: "Hello!" }] }),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) return;
    calls += 1;
    samples.add(performance.now() - due);
  };
  const open: Promise<void>[] = [];
  for (let index = 0; index < Math.floor(perSecond * seconds); index += 1) {
    const due = begun + (index * 1_000) / perSecond;
    await Bun.sleep(Math.max(0, due - performance.now()));
    // A timer's own lateness is not the gateway's.
    open.push(call(Math.max(due, performance.now())));
  }
  await Promise.all(open);
  const { p50, p99 } = samples.spread() ?? { p50: Number.NaN, p99: Number.NaN };
  return { p50, p99, calls };
}
