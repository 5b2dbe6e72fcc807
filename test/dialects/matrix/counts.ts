/** A simulator's counts, read from the simulator itself: the same request always gets the same answer. */
import type { RecordedRequest, Simulators } from "../../../simulators/index.ts";

type Counts = Record<string, unknown>;

/** Distinguishes our requests from the gateway's. */
export const askedAgain = "x-asked-again";

/** The answer of the simulator to a request that it had from the gateway, as text. */
export async function answerAgain(
  { url }: Simulators,
  { method, path, headers, body }: RecordedRequest,
): Promise<string> {
  const kept = ["authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta", "content-type"];
  const sent = kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as [string, string]]));
  const answer = await fetch(url + path, { method, headers: [...sent, [askedAgain, "true"]], body });
  return answer.text();
}

/** All input and output tokens, as the provider reports them. */
export function countsIn(text: string): { input: number; output: number } {
  const named = [...jsonIn(text)].flatMap(usagesOf);
  // A Messages stream reports its input at the start, and its output at the end.
  const all: Counts = Object.fromEntries(named.flatMap((counts) => Object.entries(counts)));
  const number = (name: string): number => Number(all[name] ?? 0);
  const input = number("prompt_tokens") + number("input_tokens") + number("promptTokenCount");
  // Some leave their thoughts out of all but the total.
  const total = all["total_tokens"] ?? all["totalTokenCount"];
  const output = total === undefined ? number("output_tokens") : Number(total) - input;
  return { input: input + number("cache_read_input_tokens") + number("cache_creation_input_tokens"), output };
}

function* jsonIn(text: string): Generator<Counts> {
  const datas = text.trimStart().startsWith("{")
    ? [text]
    : text.split("\n").map((line) => line.replace(/^data: ?/, ""));
  for (const data of datas) if (data.trimStart().startsWith("{")) yield JSON.parse(data) as Counts;
}

function usagesOf({ usage, usageMetadata, message, response }: Counts): Counts[] {
  const within = [message, response].map((holder) => (holder as Counts | null | undefined)?.["usage"]);
  return [...within, usage, usageMetadata].filter((one): one is Counts => typeof one === "object" && one !== null);
}

/** The opaque data of an answer, which only its maker can read, and requires back. */
export function sealedIn(text: string): string[] {
  const members = /"(?:signature|encrypted_content|thought_signature|thoughtSignature)": ?"([^"]+)"/g;
  return [...new Set([...text.matchAll(members)].map(([, value = ""]) => value))];
}
