/** A table as a file that is sent while it is read. */

interface RowsFile {
  /** The file's name without its ending. */
  name: string;
  format: "csv" | "jsonl";
}

/**
 * The chunks of a table as an answer. Rejects if the first one can't be read; a later failure breaks the connection off, so that no
 * client takes a half for the whole.
 */
export async function answerRows(
  chunks: AsyncIterator<Uint8Array, undefined>,
  { name, format }: RowsFile,
): Promise<Response> {
  let read = await chunks.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (read.done === true) return controller.close();
      controller.enqueue(read.value);
      try {
        read = await chunks.next();
      } catch (reason) {
        controller.error(reason);
      }
    },
    cancel: async () => void (await chunks.return?.()),
  });
  const type = format === "csv" ? "text/csv" : "application/jsonl";
  return new Response(body, {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-disposition": `attachment; filename="${name}.${format}"`,
    },
  });
}
