/** Which tools of a call its provider runs itself, at a known price. */
import { type JsonObject, keysOf, listOf, objectOf } from "../../core/index.ts";
import { translations } from "../../dialects/index.ts";
import type { ToolPurchase } from "../../providers/index.ts";
import { coversEverything, isToolPriced, requirePrices, type Target } from "../../routing/index.ts";
import { type AskedTool, askedTools, type HostedDialect, kindOf } from "./asked-tools.ts";

/** The body that a tool stands in. */
interface AskedIn {
  dialect: HostedDialect;
  /** Whether it has other tools than hosted ones. */
  hasFunctions: boolean;
}

/** Whether a tool of the body is one of those. The body is read once, for all of them. */
export function nativeIn(dialect: HostedDialect, body: JsonObject, target: Target): (tool: AskedTool) => boolean {
  const tools = listOf(body["tools"]);
  const hasFunctions = tools.some((tool) => kindOf(tool, dialect) === undefined);
  return ({ index }) => {
    try {
      if (index === undefined) return sellsMember(body, target);
      return sellsTool(objectOf(tools[index]) ?? {}, { dialect, hasFunctions }, { body, target });
    } catch {
      // A reader refuses tools without a price.
      return false;
    }
  };
}

/** The same for all tools of a body that the gateway could run. */
export function runsAllItself(dialect: HostedDialect, body: JsonObject, target: Target): boolean {
  return askedTools(dialect, body).every(nativeIn(dialect, body, target));
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

function sellsTool(value: JsonObject, asked: AskedIn, { body, target }: { body: JsonObject; target: Target }): boolean {
  const { operation, model } = target;
  const own = operation.dialect === asked.dialect ? value : counterpartOf(value, asked, target);
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
  { dialect, hasFunctions }: AskedIn,
  { operation, model }: Target,
): JsonObject | undefined {
  if (operation.dialect === undefined) return undefined;
  const tool = { kind: "native", at: "tools", dialect, type: String(value["type"]), value, hosted: true } as const;
  const context = { facts: operation.facts?.(model) ?? {}, hasFunctions, changed: () => undefined };
  return translations[operation.dialect].asOwnTool?.(tool, context)?.value;
}
