import { pipeline } from "node:stream/promises";
import { createGunzip, createInflate } from "node:zlib";
import { GatewayError } from "../core/index.ts";

/** The source of a body: a request, or any object that provides bytes in the same way. Can be read once. */
export type BodySource = Pick<Request, "headers" | "body" | "bytes">;

/** The compressions of request bodies, by their names in `content-encoding`. */
const compressions: Readonly<Record<string, "gzip" | "deflate">> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
};

/**
 * The source of the inflated body. Its size is not declared, so its reader must bound it. Throws 422 for another
 * compression; reading rejects with 422 if the bytes are not compressed as declared.
 */
export function inflated(source: BodySource): BodySource {
  const encoding = source.headers.get("content-encoding");
  if (encoding === null) return source;
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return source;
  const compression = compressions[name];
  if (compression === undefined) {
    throw invalid(`a body may be compressed with gzip or deflate, not with ${JSON.stringify(encoding.slice(0, 40))}`);
  }
  const headers = new Headers(source.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  const body = source.body === null ? null : streamOf(inflate(source.body, compression));
  return { headers, body, bytes: () => new Response(body).bytes() };
}

async function* inflate(
  body: ReadableStream<Uint8Array>,
  compression: keyof typeof inflaters,
): AsyncGenerator<Uint8Array> {
  const inflater = inflaters[compression]();
  // An error of the body or of the inflater ends both; the loop below then throws it.
  const feeding = pipeline(body, inflater).catch(() => undefined);
  try {
    const pieces: AsyncIterable<Buffer> = inflater;
    yield* pieces;
  } catch (thrown) {
    // Zlib's own codes; anything else is an error of the source.
    if (thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("Z_")) {
      throw invalid(`the body is not valid ${compression}`);
    }
    throw thrown;
  } finally {
    inflater.destroy();
    await feeding;
  }
}

const inflaters = { gzip: () => createGunzip(), deflate: () => createInflate() };

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

function invalid(problem: string): GatewayError {
  return new GatewayError("validation_failed", `content-encoding: ${problem}`, { param: "content-encoding" });
}
