/** Fetches the images and documents whose addresses a call contains, for upstreams that take bytes alone. */
import { CallAborter, GatewayError, limits } from "../../core/index.ts";
import type { FetchedImages, ImageAddress } from "../../dialects/index.ts";
import { type Outbound, OutboundError } from "../../outbound/index.ts";
import { imageTypeOf } from "../../providers/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import { collectBody } from "../../upstream/index.ts";

const REDIRECTS_MAX = 5;

export interface ImageFetcherDependencies {
  outbound: Pick<Outbound, "fetch">;
}

type FetchedImage = [url: string, image: NonNullable<ReturnType<FetchedImages["get"]>>];

export class ImageFetcher {
  readonly #deps: ImageFetcherDependencies;

  constructor(deps: ImageFetcherDependencies) {
    this.#deps = deps;
  }

  /**
   * Fetches all at the same time. Throws 422 `image_unreachable` for the first that fails, and 503 if `memory` has no room:
   * that of the call's body, of which they become a part.
   */
  async fetch(addresses: readonly ImageAddress[], memory: MemoryShare): Promise<FetchedImages> {
    const { fetchedImagesMax } = limits;
    const beyond = addresses[fetchedImagesMax];
    if (beyond !== undefined) throw unreachable(beyond, `only ${fetchedImagesMax} addresses of a call are fetched`);
    const aborter = new CallAborter();
    const all = { memory, aborter, bytesLeft: limits.fetchedImagesBytesMax };
    try {
      return new Map(await Promise.all(addresses.map((address) => this.#fetchOne(address, all))));
    } catch (thrown) {
      aborter.abort(thrown);
      throw thrown;
    }
  }

  async #fetchOne(address: ImageAddress, all: FetchesOfCall): Promise<FetchedImage> {
    try {
      const { status, headers, body } = await this.#deps.outbound.fetch({
        url: address.url,
        headers: new Headers({ accept: address.isDocument ? "*/*" : "image/*" }),
        bytesMax: limits.fetchedImagesBytesMax,
        timeoutMs: limits.imageFetchMsMax,
        redirectsMax: REDIRECTS_MAX,
        signal: all.aborter.signal,
      });
      if (status !== 200) {
        body.cancel();
        throw unreachable(address, `its host answered with status ${status}`);
      }
      const { uses } = address;
      const collected = await collectBody(body, limits.fetchedImagesBytesMax, (bytes) => {
        all.bytesLeft -= bytes * uses;
        if (all.bytesLeft < 0) throw tooLarge(address);
        all.memory.add(bytes * uses);
      });
      if (!("bytes" in collected)) throw tooLarge(address);
      const bytes = Buffer.from(collected.bytes);
      const mediaType = mediaTypeOf(bytes, address, headers.get("content-type") ?? "");
      if (mediaType === undefined)
        throw unreachable(address, address.isDocument ? "it is no PDF, text or image" : "it is no image");
      return [address.url, { source: { kind: "base64", mediaType, data: bytes.toString("base64") }, uses }];
    } catch (thrown) {
      throw thrown instanceof OutboundError ? unreachable(address, thrown.message, thrown) : thrown;
    }
  }
}

/** By the first bytes, else as its host has it; undefined for what is not meant. */
function mediaTypeOf(bytes: Buffer, { isDocument }: ImageAddress, named: string): string | undefined {
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(named)?.[0].toLowerCase() ?? "";
  const image = imageTypeOf(bytes) ?? (type.startsWith("image/") ? type : undefined);
  if (!isDocument || image !== undefined) return image;
  if (bytes.subarray(0, PDF.length).equals(PDF)) return "application/pdf";
  // A host that has no such document shows a page instead.
  const isText = type.startsWith("text/") && type !== "text/html";
  return isText || type === "application/json" ? type : undefined;
}

const PDF = Buffer.from("%PDF-");

/** Shared by the images of a call. */
interface FetchesOfCall {
  memory: MemoryShare;
  /** Ends the others when one has failed. */
  aborter: CallAborter;
  bytesLeft: number;
}

function tooLarge(address: ImageAddress): GatewayError {
  const mebibytes = limits.fetchedImagesBytesMax / 1024 / 1024;
  return unreachable(address, `the images of a call have more than ${mebibytes} MiB`);
}

function unreachable({ at, isDocument }: ImageAddress, why: string, cause?: unknown): GatewayError {
  const what = isDocument ? "documents" : "images";
  const message = `${at}: this provider takes ${what} as data only, and the gateway could not fetch this one: ${why}.`;
  return new GatewayError("image_unreachable", message, { param: at, cause });
}
