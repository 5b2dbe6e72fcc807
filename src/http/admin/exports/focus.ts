/**
 * Daily spending in the columns of FOCUS 1.0, the format of cost tools. A credit is one US dollar. Costs are the charges, list costs
 * those without the operator's markup.
 */
import type { Calendar } from "../../../core/index.ts";
import type { DailySpending } from "../../../spending/index.ts";

/** Who issues the charges. */
const GATEWAY = "Tollgate";

/** The columns of the specification, and at the end those that `focus-validator` 1.0.0 knows by an earlier name. */
export const focusColumns: readonly string[] = (
  "AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd " +
  "BillingPeriodStart ChargeCategory ChargeClass ChargeDescription ChargeFrequency ChargePeriodEnd " +
  "ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName " +
  "CommitmentDiscountStatus CommitmentDiscountType ConsumedQuantity ConsumedUnit ContractedCost " +
  "ContractedUnitPrice EffectiveCost InvoiceIssuerName ListCost ListUnitPrice PricingCategory " +
  "PricingQuantity PricingUnit ProviderName PublisherName RegionId RegionName ResourceId ResourceName " +
  "ResourceType ServiceCategory ServiceName SkuId SkuPriceId SubAccountId SubAccountName Tags InvoiceIssuer " +
  "Provider Publisher ResourceID ChargeType"
).split(" ");

interface Bounds {
  calendar: Calendar;
  /** The export's time, in milliseconds since the epoch. */
  from: number;
  to: number;
}

/** A decimal, also if it is a whole number: the validator takes no column of integers for one. */
function decimal(value: number): string {
  const text = value.toFixed(12).replace(/0+$/, "");
  return text.endsWith(".") ? `${text}0` : text;
}

/** FOCUS has no fractions of seconds. */
const seconds = (at: number): string => new Date(at).toISOString().replace(/\.\d{3}Z$/, "Z");

const dayOf = (date: string): number => Date.parse(date) / 86_400_000;

/** The first days of the month of a date, and of the month after it. */
function monthOf(date: string): { first: number; next: number } {
  const [year = 0, month = 0] = date.split("-").map(Number);
  return { first: Date.UTC(year, month - 1, 1) / 86_400_000, next: Date.UTC(year, month, 1) / 86_400_000 };
}

interface Account {
  id: string;
  name: string;
}

/** Ids of different kinds may be equal, so each has its kind. */
function accountOf(kind: string, id: string | null | undefined, name: string | null | undefined): Account | undefined {
  return id == null ? undefined : { id: `${kind}:${id}`, name: name ?? id };
}

/** The row of one day's sums. */
export function focusRow(spending: DailySpending, { calendar, from, to }: Bounds): Record<string, string> {
  const { day = "", token_id: token = "", provider = "", model = "", operation = "", requests } = spending;
  const { credits, list_credits: listCredits } = spending;
  const organisation = accountOf("organisation", spending.organisation_id, spending.organisation);
  const owner =
    accountOf("project", spending.project_id, spending.project) ?? accountOf("user", spending.user_id, spending.user);
  const payer = organisation ?? owner ?? { id: GATEWAY, name: GATEWAY };
  const { first, next } = monthOf(day);
  const tokens = spending.input_tokens + spending.output_tokens;
  const row = {
    BilledCost: decimal(credits),
    BillingAccountId: payer.id,
    BillingAccountName: payer.name,
    BillingCurrency: "USD",
    BillingPeriodStart: seconds(calendar.startOfDay(first)),
    BillingPeriodEnd: seconds(calendar.startOfDay(next)),
    ChargeCategory: "Usage",
    ChargeDescription: `${operation} with ${model}`,
    ChargeFrequency: "Usage-Based",
    ChargePeriodStart: seconds(Math.max(from, calendar.startOfDay(dayOf(day)))),
    ChargePeriodEnd: seconds(Math.min(to, calendar.startOfDay(dayOf(day) + 1))),
    ConsumedQuantity: decimal(tokens === 0 ? requests : tokens),
    ConsumedUnit: tokens === 0 ? "Requests" : "Tokens",
    ContractedCost: decimal(credits),
    ContractedUnitPrice: decimal(credits / requests),
    EffectiveCost: decimal(credits),
    InvoiceIssuerName: GATEWAY,
    ListCost: decimal(listCredits),
    ListUnitPrice: decimal(listCredits / requests),
    PricingCategory: "Standard",
    PricingQuantity: decimal(requests),
    PricingUnit: "Requests",
    ProviderName: provider,
    PublisherName: provider,
    ResourceId: `token:${token}`,
    ResourceName: token,
    ResourceType: "Token",
    ServiceCategory: "AI and Machine Learning",
    ServiceName: provider,
    SkuId: `${model} ${operation}`,
    SkuPriceId: `${model} ${operation}`,
    SubAccountId: owner?.id ?? "",
    SubAccountName: owner?.name ?? "",
    Tags: JSON.stringify({ model, operation }),
  };
  return {
    ...row,
    InvoiceIssuer: row.InvoiceIssuerName,
    Provider: row.ProviderName,
    Publisher: row.PublisherName,
    ResourceID: row.ResourceId,
    ChargeType: row.ChargeCategory,
  };
}
