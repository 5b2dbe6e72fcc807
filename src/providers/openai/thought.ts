import type { Effort } from "../../core/index.ts";

/** The generations before those that think. A fine-tuned model has the name of its base behind `ft:`. */
const withoutThought = /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-4o|gpt-audio)/;

/** Whether a model may think: OpenAI bills thoughts and does not send them. */
export function hidesThought(model: string): boolean {
  return !withoutThought.test(model);
}

/** The efforts of older models that think; those of later ones differ by version, and not all are known. */
const efforts: readonly (readonly [models: RegExp, efforts: readonly Effort[]])[] = [
  [/^(?:ft:)?o\d/, ["low", "medium", "high"]],
  [/^(?:ft:)?gpt-5(?:-(?:mini|nano))?(?:-\d{4}|$)/, ["minimal", "low", "medium", "high"]],
  [/^(?:ft:)?gpt-5\.1(?:-|$)/, ["none", "low", "medium", "high"]],
  [/^(?:ft:)?gpt-5\.\d/, ["none", "low", "medium", "high", "xhigh"]],
];

/** The efforts that a model accepts, if they are known. */
export function effortsOf(model: string): readonly Effort[] | undefined {
  return efforts.find(([models]) => models.test(model))?.[1];
}
