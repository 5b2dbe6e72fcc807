/** The scenario selected by words of the last user message. */
export interface Scenario {
  /** `words:N`: exactly that many words; null if absent. */
  readonly words: number | null;
  /** `parallel`: two tool calls at once. */
  readonly parallel: boolean;
  /** `interleaved`: the fragments of parallel calls take turns, where calls are streamed in fragments. */
  readonly interleaved: boolean;
  /** `steps:N`: rounds of tool calls before the final text. */
  readonly steps: number | undefined;
  /** `aloud`: generates a sentence before its tool calls. */
  readonly aloud: boolean;
  /** `refuse:CATEGORY`: declines to answer, for that reason; null without it. */
  readonly refusal: string | null;
  /** `redacted`: thinking comes as an unreadable block, if the provider has such blocks. */
  readonly redacted: boolean;
}

const wordsMax = 1_000_000;

/** Reads the scenario out of a user's text. */
export function readScenario(text: string): Scenario {
  const lower = text.toLowerCase();
  const words = /\bwords:(\d+)\b/.exec(text)?.[1];
  const interleaved = lower.includes("interleaved");
  return {
    words: words === undefined ? null : Math.min(Number(words), wordsMax),
    parallel: interleaved || lower.includes("parallel"),
    interleaved,
    steps: stepsIn(text),
    aloud: /\baloud\b/.test(lower),
    refusal: /\brefuse:([\w-]+)/.exec(lower)?.[1] ?? null,
    redacted: /\bredacted\b/.test(lower),
  };
}

function stepsIn(text: string): number | undefined {
  const [, steps] = /\bsteps:(\d+)\b/.exec(text) ?? [];
  return steps === undefined ? undefined : Number(steps);
}
