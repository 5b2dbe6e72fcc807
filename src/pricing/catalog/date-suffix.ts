/** Formats of a date at the end of a model's name, as providers write them. */
export const dateSuffixes = ["YYYY-MM-DD", "YYYYMMDD", "YYMMDD", "YYMM", "MMDD", "MM-YYYY", "MM-DD"] as const;

type DateSuffix = (typeof dateSuffixes)[number];

const year = "20[2-3]\\d";
const shortYear = "[2-3]\\d";
const month = "(?:0[1-9]|1[0-2])";
const day = "(?:0[1-9]|[12]\\d|3[01])";

const patterns: Readonly<Record<DateSuffix, RegExp>> = {
  "YYYY-MM-DD": suffix(`${year}-${month}-${day}`),
  YYYYMMDD: suffix(`${year}${month}${day}`),
  YYMMDD: suffix(`${shortYear}${month}${day}`),
  YYMM: suffix(`${shortYear}${month}`),
  MMDD: suffix(`${month}${day}`),
  "MM-YYYY": suffix(`${month}-${year}`),
  "MM-DD": suffix(`${month}-${day}`),
};

function suffix(date: string): RegExp {
  return new RegExp(`-${date}$`);
}

/** The names that a dated name may be a version of: it, without a date in one of the formats. */
export function undatedNames(name: string, formats: readonly DateSuffix[]): string[] {
  return formats.flatMap((format) => {
    const undated = name.replace(patterns[format], "");
    // The newest version of a model has no versions, and a date is not repeated.
    const isVersionless = undated === name || undated === "" || undated.endsWith("-latest");
    return isVersionless || dateSuffixes.some((other) => patterns[other].test(undated)) ? [] : [undated];
  });
}
