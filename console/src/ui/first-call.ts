/** The command that makes a first call of this gateway. */
export const firstCall = (): string =>
  `curl -s ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"openai/gpt-5-mini","messages":[{"role":"user","content":"Hello!"}]}'`;
