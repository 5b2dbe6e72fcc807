/** Another caller, on a thread of its own: asks for `/health` and a short chat again and again. */
declare const self: Worker;

/** The longest wait since the last message, in milliseconds. */
export interface Waits {
  health: number;
  chat: number;
}

const [base = "", token = ""] = process.argv.slice(2);
const waits: Waits = { health: 0, chat: 0 };
const body = JSON.stringify({ model: "other/gpt-4o-mini", messages: [{ role: "user", content: "hi" }] });

async function ask(name: keyof Waits, path: string, init?: RequestInit): Promise<never> {
  for (;;) {
    const start = performance.now();
    const answer = await fetch(base + path, init);
    await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    waits[name] = Math.max(waits[name], performance.now() - start);
    await Bun.sleep(1);
  }
}

self.addEventListener("message", () => {
  self.postMessage(waits, []);
  waits.health = 0;
  waits.chat = 0;
});
void ask("health", "/health");
void ask("chat", "/v1/chat/completions", { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
