/** The data of each server-sent event of an answer, in their order. */
export async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = events.pop() ?? "";
      yield* events.flatMap(dataOf);
    }
  } finally {
    await reader.cancel();
  }
}

function dataOf(event: string): string[] {
  const lines = event.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
  return lines.length === 0 ? [] : [lines.join("\n")];
}
