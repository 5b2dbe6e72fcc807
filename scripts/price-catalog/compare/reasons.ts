/** Why the gateway charges another price than LiteLLM lists. */
import { corrections } from "../corrections/index.ts";

/** Differences that a whole family of names has. */
const families: readonly { names: RegExp; reason: string }[] = [
  {
    names: /^ft:/,
    reason: "the price of a family; a fine-tuned model has a name of its own, for which the operator sets the price",
  },
  {
    names: /-search(?:-|$)/,
    reason: 'each answer makes a search, which is charged too (OpenAI\'s guide "Web search")',
  },
  { names: /^mistral-ocr-/, reason: "no route reads documents: the catalogue has the price for later" },
];

/** The document that a correction of the model names, or the reason that its family has; undefined if there is none. */
export function reasonFor(provider: string, name: string): string | undefined {
  const own = corrections[provider]?.corrections.find(({ names, prices, change }) => {
    return names.includes(name) && (prices !== undefined || change !== undefined);
  });
  return own?.source ?? families.find(({ names }) => names.test(name))?.reason;
}
