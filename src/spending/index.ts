export { allSpending, type DailySpending } from "./all-spending.ts";
export { callFilterOf, type CallPlace, callPlaces, organisationAccountOf } from "./calls.ts";
export { parseMoment, type Moment, periodOf } from "./period.ts";
export {
  dimensionsIn,
  filterOf,
  reportSpending,
  type SpendingDimension,
  spendingDimensions,
} from "./report-spending.ts";
export { callValuesJson, spendingJson, sumsJson } from "./spending-json.ts";
