import { share, type Signal } from "./signal.ts";

/** Traits of the whole page, beside its type. */
export const pageSignals: readonly Signal[] = [
  { name: "page-main-share", of: (_, { mainWords, words }) => share(mainWords, words) },
  { name: "page-articles", of: (_, { articles }) => Math.log1p(articles) },
];
