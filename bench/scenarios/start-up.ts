import { chat } from "../cases/index.ts";
import type { Proxy, Target } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

export interface StartUpResult {
  proxyId: string;
  /** From the start of the process to the end of the first answered chat call, for each start. */
  firstAnswerMs: number[];
  /** After that one call and a while of nothing. */
  idleBytes: number;
}

const idleMs = 2_000;

/** Starts each proxy a few times and asks for one chat completion each time. */
export async function measureStartUp(rig: Rig, proxies: readonly Proxy[], starts: number): Promise<StartUpResult[]> {
  const results: StartUpResult[] = [];
  for (const proxy of proxies) {
    progress(`start-up: ${proxy.id}`);
    const result: StartUpResult = { proxyId: proxy.id, firstAnswerMs: [], idleBytes: 0 };
    for (let start = 1; start <= starts; start += 1) await startOnce(rig, proxy, start === starts, result);
    results.push(result);
  }
  return results;
}

async function startOnce(rig: Rig, proxy: Proxy, last: boolean, result: StartUpResult): Promise<void> {
  const running = await proxy.start(rig.context);
  try {
    await askOnce(running.target);
    result.firstAnswerMs.push(performance.now() - running.process.startedAt);
    if (!last) return;
    await Bun.sleep(idleMs);
    result.idleBytes = useOfTree(running.process.pid).residentBytes;
  } finally {
    await running.stop();
  }
}

async function askOnce(target: Target): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${target.port}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer bench", "content-type": "application/json", ...target.headers },
    body: chat.body(target.models.chat),
    keepalive: false,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the first call was answered with ${response.status}: ${text.slice(0, 300)}`);
}
