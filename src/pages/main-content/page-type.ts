import { pageRow } from "./block-rows.ts";
import { predict } from "./model/forest.ts";
import { pageTypes, type Model, type PageType, type PageTypeChances } from "./model/model.ts";
import type { PageFacts } from "./page-facts.ts";

export function judgePageType(page: PageFacts, { types }: Pick<Model, "types">): PageTypeChances {
  const row = pageRow(page);
  const chances = pageTypes.map((type) => predict(types[type], row));
  const sum = chances.reduce((total, chance) => total + chance, 0);
  return Object.fromEntries(pageTypes.map((type, at) => [type, (chances[at] ?? 0) / sum])) as PageTypeChances;
}

export function likeliest(chances: PageTypeChances): PageType {
  return pageTypes.reduce((best, type) => (chances[type] > chances[best] ? type : best));
}
