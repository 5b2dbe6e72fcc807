import { pageTypes, type Model, type PageType, type PageTypeChances } from "./model/model.ts";

/** How likely a page is of each type, by its `pageRow`. */
export function judgePageType(row: Float32Array, { types }: Pick<Model, "types">): PageTypeChances {
  const chances = pageTypes.map((type) => types[type](row));
  const sum = chances.reduce((total, chance) => total + chance, 0);
  return Object.fromEntries(pageTypes.map((type, at) => [type, (chances[at] ?? 0) / sum])) as PageTypeChances;
}

export function likeliest(chances: PageTypeChances): PageType {
  return pageTypes.reduce((best, type) => (chances[type] > chances[best] ? type : best));
}
