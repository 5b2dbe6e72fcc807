/** The generations before those that think. A fine-tuned model has the name of its base behind `ft:`. */
const withoutThought = /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-4o|gpt-audio)/;

/** Whether a model may think: OpenAI bills thoughts and does not send them. */
export function hidesThought(model: string): boolean {
  return !withoutThought.test(model);
}
