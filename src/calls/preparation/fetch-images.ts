/** Fetches the images whose addresses a call contains, for upstreams that take images as bytes alone. */
import { CallAborter, GatewayError, limits } from "../../core/index.ts";
import type { FetchedImages, ImageAddress } from "../../dialects/index.ts";
import { type Outbound, OutboundError } from "../../outbound/index.ts";
import { imageTypeOf } from "../../providers/index.ts";
import type { MemoryBudget, MemoryShare } from "../../streaming/index.ts";
import { collectBody } from "../../upstream/index.ts";

const REDIRECTS_MAX = 5;

export interface ImageFetcherDependencies {
  outbound: Pick<Outbound, "fetch">;
  memory: MemoryBudget;
}

type FetchedImage = [url: string, image: NonNullable<ReturnType<FetchedImages["get"]>>];

export class ImageFetcher {
  readonly #deps: ImageFetcherDependencies;

  constructor(deps: ImageFetcherDependencies) {
    this.#deps = deps;
  }

  /** Fetches all at the same time. Throws 422 `image_unreachable` for the first that fails. */
  async fetch(addresses: readonly ImageAddress[]): Promise<FetchedImages> {
    const { fetchedImagesMax } = limits;
    const beyond = addresses[fetchedImagesMax];
    if (beyond !== undefined) throw unreachable(beyond, `only ${fetchedImagesMax} addresses of a call are fetched`);
    const memory = this.#deps.memory.share();
    const aborter = new CallAborter();
    const all = { memory, aborter, bytesLeft: limits.fetchedImagesBytesMax };
    try {
      return new Map(await Promise.all(addresses.map((address) => this.#fetchOne(address, all))));
    } catch (thrown) {
      aborter.abort(thrown);
      throw thrown;
    } finally {
      memory.free();
    }
  }

  async #fetchOne(address: ImageAddress, all: FetchesOfCall): Promise<FetchedImage> {
    try {
      const { status, headers, body } = await this.#deps.outbound.fetch({
        url: address.url,
        headers: new Headers({ accept: "image/*" }),
        bytesMax: limits.fetchedImagesBytesMax,
        timeoutMs: limits.imageFetchMsMax,
        redirectsMax: REDIRECTS_MAX,
        signal: all.aborter.signal,
      });
      if (status !== 200) {
        body.cancel();
        throw unreachable(address, `its host answered with status ${status}`);
      }
      const collected = await collectBody(body, limits.fetchedImagesBytesMax, (bytes) => {
        all.memory.add(bytes);
        all.bytesLeft -= bytes;
        if (all.bytesLeft < 0) throw tooLarge(address);
      });
      if (!("bytes" in collected)) throw tooLarge(address);
      const bytes = Buffer.from(collected.bytes);
      const mediaType = imageTypeOf(bytes) ?? /^image\/[\w.+-]+/i.exec(headers.get("content-type") ?? "")?.[0];
      if (mediaType === undefined) throw unreachable(address, "it is no image");
      return [address.url, { kind: "base64", mediaType, data: bytes.toString("base64") }];
    } catch (thrown) {
      throw thrown instanceof OutboundError ? unreachable(address, thrown.message, thrown) : thrown;
    }
  }
}

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

function unreachable({ at }: ImageAddress, why: string, cause?: unknown): GatewayError {
  const message = `${at}: this provider takes images as data only, and the gateway could not fetch this one: ${why}.`;
  return new GatewayError("image_unreachable", message, { param: at, cause });
}
