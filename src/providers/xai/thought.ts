/** Whether a model may think: xAI's streams contain a summary of the thoughts that are billed, or nothing of them. */
export function hidesThought(model: string): boolean {
  return !/non-reasoning|^grok-2/.test(model);
}
