export { boundFor, chargeFor, dearestInput, dearestOutput, type ModelPrice } from "./model-price.ts";
export { type OperatorPrice, PriceBook, type PriceBookOptions, type PricedModel } from "./price-book.ts";
export type { Work } from "./price-table.ts";
export { type PriceQuote, priceQuote } from "./quote.ts";
