/** One address that the simulated search engines know. */
export interface Entry {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
  /** The day of publication (`2026-05-04`); null for pages without one. */
  readonly date: string | null;
  /** ISO 639-1. */
  readonly language: string;
  readonly kind: "page" | "news" | "image";
}

interface Topic {
  readonly name: string;
  readonly slug: string;
  readonly about: string;
}

const topics: readonly Topic[] = [
  { name: "Tomato blight", slug: "tomato-blight", about: "late blight spreads on wet leaves in mild nights" },
  { name: "Compost heaps", slug: "compost-heap", about: "a heap needs air, water and a mix of green and brown" },
  {
    name: "Rain gauges",
    slug: "rain-gauge",
    about: "a tipping bucket counts rain in steps of a fifth of a millimetre",
  },
  { name: "Soil moisture", slug: "soil-moisture", about: "capacitive probes measure water without touching metal" },
  { name: "Late frost", slug: "late-frost", about: "cold air flows downhill and collects in front of hedges" },
  { name: "Bee keeping", slug: "bee-keeping", about: "a colony needs a dry hive and a windbreak in winter" },
  { name: "Grape vines", slug: "grape-vines", about: "vines are pruned in February before the sap rises" },
  { name: "MQTT brokers", slug: "mqtt-broker", about: "a broker keeps the last message of each topic" },
  { name: "Solar power", slug: "solar-power", about: "a small panel charges a sensor through the winter" },
  { name: "Espresso machines", slug: "espresso-machine", about: "pressure and temperature decide about the taste" },
  { name: "Bicycle chains", slug: "bicycle-chain", about: "a chain lasts twice as long if it is kept clean" },
  { name: "Night trains", slug: "night-train", about: "sleeping cars run again between the large cities" },
];

interface Source {
  readonly host: string;
  readonly language: string;
  readonly kind: Entry["kind"];
  readonly path: (slug: string) => string;
  readonly title: (name: string) => string;
  readonly describe: (about: string) => string;
}

const sources: readonly Source[] = [
  page(
    "www.garden-almanac.example",
    (slug) => `/guides/${slug}`,
    (name) => `${name}: a guide`,
  ),
  page(
    "wiki.example",
    (slug) => `/wiki/${slug}`,
    (name) => `${name} - Wiki`,
  ),
  page(
    "forum.allotment.example",
    (slug) => `/t/${slug}/42`,
    (name) => `Questions about ${name.toLowerCase()}`,
  ),
  page(
    "shop.seedhouse.example",
    (slug) => `/c/${slug}`,
    (name) => `${name} | Seedhouse`,
  ),
  page(
    "blog.weathernerd.example",
    (slug) => `/2026/${slug}.html`,
    (name) => `What I learned about ${name.toLowerCase()}`,
  ),
  page(
    "docs.opensensor.example",
    (slug) => `/handbook/${slug}.pdf`,
    (name) => `Handbook of ${name.toLowerCase()} (PDF)`,
  ),
  page(
    "github.com",
    (slug) => `/opensensor-example/${slug}`,
    (name) => `opensensor-example: ${name}`,
  ),
  page(
    "arxiv.org",
    (slug) => `/abs/example-${slug}`,
    (name) => `A study of ${name.toLowerCase()}`,
  ),
  page(
    "www.extension.example.edu",
    (slug) => `/fact-sheets/${slug}.pdf`,
    (name) => `Fact sheet: ${name} (PDF)`,
  ),
  {
    ...page(
      "www.gartenkalender.example",
      (slug) => `/ratgeber/${slug}`,
      (name) => `${name} im Garten`,
    ),
    language: "de",
  },
  {
    ...page(
      "www.jardin.example",
      (slug) => `/conseils/${slug}`,
      (name) => `${name} au jardin`,
    ),
    language: "fr",
  },
  page(
    "www.weather-tools.example",
    (slug) => `/reviews/${slug}-2026`,
    (name) => `${name} compared: ten products`,
  ),
  page(
    "answers.example",
    (slug) => `/questions/${slug}`,
    (name) => `How do I deal with ${name.toLowerCase()}?`,
  ),
  {
    ...page(
      "news.example",
      (slug) => `/local/${slug}`,
      (name) => `${name} in the news`,
    ),
    kind: "news",
  },
  {
    ...page(
      "daily.example",
      (slug) => `/story/${slug}`,
      (name) => `${name}: the story`,
    ),
    kind: "news",
  },
  {
    ...page(
      "pictures.example",
      (slug) => `/photos/${slug}`,
      (name) => `${name}, a photograph`,
    ),
    kind: "image",
  },
];

function page(host: string, path: Source["path"], title: Source["title"]): Source {
  return { host, language: "en", kind: "page", path, title, describe: (about) => `About this topic: ${about}.` };
}

const daysBetween = 11;
const millisecondsPerDay = 86_400_000;
const newest = Date.UTC(2026, 5, 1);

/** The made-up entries: every topic at every source, and a second page at each that has pages of its own. */
export function madeUpEntries(): Entry[] {
  return topics.flatMap((topic, row) =>
    sources.flatMap((source, column) => {
      const age = ((row * 5 + column * 7) % 40) * daysBetween;
      const first = entryOf(topic, source, age);
      if (source.kind !== "page") return [first];
      const url = first.url.replace(/(\.\w+)?$/, "-part-2$1");
      return [first, { ...first, url, title: `${first.title}, part 2`, date: null }];
    }),
  );
}

function entryOf({ name, slug, about }: Topic, source: Source, ageDays: number): Entry {
  const { host, language, kind, path, title, describe } = source;
  return {
    url: `https://${host}${path(slug)}`,
    title: title(name),
    description: describe(about),
    text: `${name}. In this article we collect notes: ${about}. Written for ${host}.`,
    date: new Date(newest - ageDays * millisecondsPerDay).toISOString().slice(0, 10),
    language,
    kind,
  };
}
