/** Whether the provider of a call runs a tool itself, at a known price. */
import { type JsonObject, keysOf, listOf, objectOf } from "../../core/index.ts";
import { translations } from "../../dialects/index.ts";
import type { ToolPurchase } from "../../providers/index.ts";
import { coversEverything, isToolPriced, requirePrices, type Target } from "../../routing/index.ts";
import { type AskedTool, askedTools, type HostedDialect, kindOf } from "./asked-tools.ts";

export function isNative(tool: AskedTool, dialect: HostedDialect, body: JsonObject, target: Target): boolean {
  try {
    return tool.index === undefined
      ? sellsMember(body, target)
      : sellsTool(objectOf(listOf(body["tools"])[tool.index]) ?? {}, dialect, body, target);
  } catch {
    // A reader refuses tools without a price.
    return false;
  }
}

/** The same for all tools of a body that the gateway could run. */
export function runsAllItself(dialect: HostedDialect, body: JsonObject, target: Target): boolean {
  return askedTools(dialect, body).every((tool) => isNative(tool, dialect, body, target));
}

/** A member of a chat body that the upstream charges for. Throws for one without a price. */
function sellsMember(body: JsonObject, target: Target): boolean {
  const { operation, model } = target;
  if (operation.dialect !== "chat") return false;
  const extras = operation.extras?.(body, model);
  if (extras === undefined) return false;
  requirePrices(target, extras);
  return keysOf(extras.toolUnits ?? {}).length > 0;
}

function sellsTool(value: JsonObject, dialect: HostedDialect, body: JsonObject, target: Target): boolean {
  const { operation, model } = target;
  const hasFunctions = listOf(body["tools"]).some((tool) => kindOf(objectOf(tool)?.["type"]) === undefined);
  const own = operation.dialect === dialect ? value : counterpartOf(value, { dialect, hasFunctions }, target);
  if (own === undefined) return false;
  if (operation.readTool === undefined) return true;
  const purchase = operation.readTool(own, body, model);
  return purchase !== undefined && isPriced(purchase, target);
}

function isPriced({ units = {} }: ToolPurchase, { price }: Target): boolean {
  return coversEverything(price) || keysOf(units).every((unit) => isToolPriced(price, unit));
}

function counterpartOf(
  value: JsonObject,
  { dialect, hasFunctions }: { dialect: HostedDialect; hasFunctions: boolean },
  { operation, model }: Target,
): JsonObject | undefined {
  if (operation.dialect === undefined) return undefined;
  const tool = { kind: "native", at: "tools", dialect, type: String(value["type"]), value, hosted: true } as const;
  const context = { facts: operation.facts?.(model) ?? {}, hasFunctions, changed: () => undefined };
  return translations[operation.dialect].asOwnTool?.(tool, context)?.value;
}
