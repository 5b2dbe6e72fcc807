/** A use of a hosted tool as the items of a dialect. */
import type { HostedDialect } from "../../requests/asked-tools.ts";
import type { BegunUse, UseItems } from "./begun-use.ts";
import { configuredItems } from "./configured-items.ts";
import { searchItems } from "./search-items.ts";
import { imageItems } from "./image-items.ts";
import { servedItems } from "./served-items.ts";
import { webItems } from "./web-items.ts";

export function itemsOf(dialect: HostedDialect, use: BegunUse): UseItems {
  if (dialect === "chat") return {};
  const { called } = use;
  switch (called.family) {
    case "web":
      return webItems[dialect](called, use);
    case "configured":
      return configuredItems[dialect](called, use);
    case "tool-search":
      return searchItems[dialect](called, use);
    case "image":
      return imageItems(use);
    case "served":
      return servedItems[dialect](called, use);
  }
}
