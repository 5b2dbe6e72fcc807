import type { PresentedToken } from "./presented-token.ts";

/**
 * The token of a request of Google's clients, in their header or in the address (`?key=`). They send an empty header if they
 * are configured without a key (gemini-cli).
 */
export function googleToken({ headers, url }: Pick<Request, "headers" | "url">): PresentedToken | undefined {
  const inHeader = headers.get("x-goog-api-key")?.trim() ?? "";
  if (inHeader !== "") return { text: inHeader, place: "x-goog-api-key" };
  const inAddress = url.includes("key=") ? (new URL(url).searchParams.get("key")?.trim() ?? "") : "";
  return inAddress === "" ? undefined : { text: inAddress, place: "key" };
}
