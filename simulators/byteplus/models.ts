import type { Route } from "../shared/types.ts";

/** ModelArk has no supported models listing: the path answers 404 like any other unknown one. */
export const modelRoutes: readonly Route[] = [];
