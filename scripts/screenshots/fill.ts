/** Fills a sandbox with two months of calls of a small company, the same ones each time. */
import { renameSync, writeFileSync } from "node:fs";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 62;

interface Place {
  url: string;
  /** An owner's token. */
  token: string;
  /** The file that moves the gateway's clock; see clock.ts. */
  clockFile: string;
}

/** Numbers between 0 and 1, the same ones each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const users = [
  { name: "ada", organisation: "northwind", models: ["anthropic/claude-sonnet-5", "openai/gpt-5.2"], weight: 5 },
  { name: "grace", organisation: "northwind", models: ["openai/gpt-5.2", "google/gemini-2.5-pro"], weight: 3 },
  { name: "linus", organisation: "northwind", models: ["anthropic/claude-opus-4-8", "xai/grok-4.6"], weight: 2 },
  {
    name: "support-bot",
    organisation: "northwind",
    models: ["openai/gpt-5-mini", "mistral/mistral-large-latest"],
    weight: 8,
  },
  {
    name: "margaret",
    organisation: "contoso",
    models: ["deepseek/deepseek-v4-pro", "google/gemini-3.5-flash"],
    weight: 3,
  },
] as const;

const paths = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;

async function post<Answer>(place: Place, path: string, body: object): Promise<Answer> {
  const response = await fetch(`${place.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${place.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

function moveClock({ clockFile }: Place, offset: number): void {
  writeFileSync(`${clockFile}.next`, String(Math.round(offset)));
  renameSync(`${clockFile}.next`, clockFile);
}

/** The offset of the gateway's clock before the first call. */
export const firstOffset = -DAYS * DAY_MS;

/** Makes the accounts and their calls, and sets the clock right again. */
export async function fill(place: Place): Promise<void> {
  const random = seeded(7);
  await makeAccounts(place);
  const tokens = new Map<string, string>();
  for (const { name } of users) {
    const { token } = await post<{ token: string }>(place, "/admin/v1/tokens", {
      user: name,
      name: `${name}'s laptop`,
    });
    tokens.set(name, token);
  }
  const begun = Date.now();
  for (let day = DAYS; day >= 0; day -= 1) {
    const isWeekend = [0, 6].includes(new Date(begun - day * DAY_MS).getUTCDay());
    const growth = 0.6 + (DAYS - day) / DAYS;
    const calls = Math.round((isWeekend ? 5 : 18) * growth * (0.7 + random() * 0.6));
    for (let each = 0; each < calls; each += 1) {
      moveClock(place, -day * DAY_MS - (1 - each / calls) * 3 * HOUR_MS);
      await oneCall(place, tokens, random);
    }
  }
  moveClock(place, 0);
}

async function makeAccounts(place: Place): Promise<void> {
  for (const name of ["northwind", "contoso"]) {
    await post(place, "/admin/v1/organisations", { name });
    await post(place, "/admin/v1/credits", { organisation: name, amount: 250, reason: "invoice 2026-114" });
  }
  for (const { name, organisation } of users) await post(place, "/admin/v1/users", { name, organisation });
}

async function oneCall(place: Place, tokens: Map<string, string>, random: () => number): Promise<void> {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const weighted = users.flatMap((user) => Array.from({ length: user.weight }, () => user));
  const user = pick(weighted);
  const path = pick(paths);
  const model = pick(user.models);
  const question = "Summarise the ticket and answer it politely. ".repeat(20 + Math.floor(random() ** 3 * 900));
  const text = `words:${40 + Math.floor(random() * 900)} ${question}`;
  const stream = random() < 0.6;
  const shared = path === "/v1/responses" ? { input: text } : { messages: [{ role: "user", content: text }] };
  const body = { model, stream, ...shared, ...(path === "/v1/messages" && { max_tokens: 4_000 }) };
  const session = random() < 0.25 ? `agent-${user.name}-${Math.floor(random() * 12)}` : undefined;
  const response = await fetch(`${place.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens.get(user.name)}`,
      "content-type": "application/json",
      ...(session !== undefined && { "x-tollgate-session": session }),
    },
    body: JSON.stringify(random() < 0.03 ? { ...body, ...withBrokenPicture } : body),
  });
  await response.text();
}

/** A chat that every provider refuses. */
const withBrokenPicture = {
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }],
  input: [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }] }],
};
