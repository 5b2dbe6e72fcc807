import type { Location } from "../render-request.ts";

export interface PageLocale {
  /** The first language. */
  locale: string;
  /** For `Accept-Language`, the preferred one first. */
  languages: readonly string[];
  timezoneId: string;
}

const DEFAULT_COUNTRY = "US";

/** The zone of the most people, for countries with several: the runtime lists their zones by name. */
const mainZones: Readonly<Record<string, string>> = {
  AR: "America/Argentina/Buenos_Aires",
  AU: "Australia/Sydney",
  BR: "America/Sao_Paulo",
  CA: "America/Toronto",
  CD: "Africa/Kinshasa",
  CL: "America/Santiago",
  CN: "Asia/Shanghai",
  EC: "America/Guayaquil",
  ES: "Europe/Madrid",
  GL: "America/Nuuk",
  ID: "Asia/Jakarta",
  KZ: "Asia/Almaty",
  MN: "Asia/Ulaanbaatar",
  MX: "America/Mexico_City",
  MY: "Asia/Kuala_Lumpur",
  NZ: "Pacific/Auckland",
  PG: "Pacific/Port_Moresby",
  PT: "Europe/Lisbon",
  RU: "Europe/Moscow",
  UA: "Europe/Kyiv",
  US: "America/New_York",
  UZ: "Asia/Tashkent",
  VN: "Asia/Ho_Chi_Minh",
};

const fallbackZone = "UTC";

/** The self-description of a browser in that country. Unknown countries and languages count as absent. */
export function localeOf({ country = DEFAULT_COUNTRY, languages = [] }: Location = {}): PageLocale {
  const region = localeFrom(`und-${country}`)?.maximize();
  const known = languages.flatMap((language) => localeFrom(language)?.baseName ?? []);
  const own = region === undefined ? "en-US" : `${region.language}-${region.region ?? DEFAULT_COUNTRY}`;
  const [first = own] = known;
  const wanted = known.length > 0 ? known : [own];
  // A page without the exact language often has the general one.
  const general = wanted.flatMap((each) => (each.includes("-") ? [each.split("-")[0] ?? each] : []));
  return { locale: first, languages: [...new Set([...wanted, ...general])], timezoneId: zoneOf(region) };
}

function localeFrom(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined;
  }
}

function zoneOf(region: Intl.Locale | undefined): string {
  const main = mainZones[region?.region ?? ""];
  if (main !== undefined) return main;
  const [first = fallbackZone] = region?.getTimeZones?.() ?? [];
  return first;
}
