type Tree = Readonly<Record<string, unknown>>;

export interface Setting {
  /** The keys from the top, joined by dots. */
  path: string;
  value: string;
}

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** The values of a configuration, each with its path, in its order. An empty object or a list is a value. */
export function settingsOf(tree: Tree, above = ""): Setting[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = above === "" ? key : `${above}.${key}`;
    if (isTree(value) && Object.keys(value).length > 0) return settingsOf(value, path);
    return [{ path, value: typeof value === "string" ? value : JSON.stringify(value) }];
  });
}

/** Groups by the first key; those that have no other are one group, the first. */
export function sectionsOf(settings: readonly Setting[]): [name: string, settings: Setting[]][] {
  const sections = new Map<string, Setting[]>([["General", []]]);
  for (const setting of settings) {
    const [first = "", second] = setting.path.split(".");
    const name = second === undefined ? "General" : first;
    sections.set(name, [...(sections.get(name) ?? []), setting]);
  }
  return [...sections].filter(([, own]) => own.length > 0);
}
