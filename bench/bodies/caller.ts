import { readFileSync } from "node:fs";

/** Another caller, on a thread of its own: asks for `/health` and a short chat again and again. */
declare const self: Worker;

/** The longest wait since the last message, in milliseconds. */
export interface Waits {
  health: number;
  chat: number;
  /** The most processor time of the gateway's thread within one of them: a wait on a machine that does nothing else. */
  busy: number;
}

const [base = "", token = "", gateway = ""] = process.argv.slice(2);
const waits: Waits = { health: 0, chat: 0, busy: 0 };
const body = JSON.stringify({ model: "other/gpt-4o-mini", messages: [{ role: "user", content: "hi" }] });

/** The processor time of the gateway's main thread so far, in milliseconds; 0 except on Linux. */
function busyMs(): number {
  if (process.platform !== "linux") return 0;
  return Number(readFileSync(`/proc/${gateway}/schedstat`, "latin1").split(" ", 1)[0]) / 1e6;
}

async function ask(name: "health" | "chat", path: string, init?: RequestInit): Promise<never> {
  for (;;) {
    const start = performance.now();
    const before = busyMs();
    const answer = await fetch(base + path, init);
    await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    waits[name] = Math.max(waits[name], performance.now() - start);
    waits.busy = Math.max(waits.busy, busyMs() - before);
    await Bun.sleep(1);
  }
}

self.addEventListener("message", () => {
  self.postMessage(waits, []);
  waits.health = 0;
  waits.chat = 0;
  waits.busy = 0;
});
void ask("health", "/health");
void ask("chat", "/v1/chat/completions", { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
