/** Code pages of Windows → encodings of the Encoding Standard. */
const byCodePage: Readonly<Record<number, string>> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10000: "macintosh",
  65001: "utf-8",
};

/** Character sets of fonts → code pages. */
const codePages: Readonly<Record<number, number>> = {
  77: 10_000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1_253,
  162: 1_254,
  163: 1_258,
  177: 1_255,
  178: 1_256,
  186: 1_257,
  204: 1_251,
  222: 874,
  238: 1_250,
};

/** Undefined for a code page without an encoding. */
export function encodingOfCodePage(page: number | undefined): string | undefined {
  if (page === undefined) return undefined;
  return page >= 1_250 && page <= 1_258 ? `windows-${page}` : byCodePage[page];
}

/** The encoding of a font with this character set; undefined for the document's own. */
export function encodingOfCharset(charset: number): string | undefined {
  return encodingOfCodePage(codePages[charset]);
}
