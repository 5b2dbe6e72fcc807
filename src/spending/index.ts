export { parseMoment, type Moment, periodOf } from "./period.ts";
export { reportSpending, spendingDimensions } from "./report-spending.ts";
export { spendingJson } from "./spending-json.ts";
