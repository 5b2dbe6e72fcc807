/** A request about a document. It crosses to a child process: plain data only. */
export interface PageRequest {
  /** The final address, after redirects: the base of relative links, unless the page names another. */
  url: string;
  /** The `content-type` of the reply. It is believed as far as the bytes agree. */
  contentType: string | undefined;
  /** The forms of the content to return; metadata always is. `rawHtml` is the decoded document, unchanged. */
  wants: PageWants;
  /** Leaves out navigation, advertisements, footers and the like. */
  onlyMainContent: boolean;
  /** CSS selectors or tag names: only elements that match one are kept. They replace `onlyMainContent`. */
  includeTags: readonly string[];
  /** CSS selectors or tag names: elements that match one are removed. */
  excludeTags: readonly string[];
  /** Replaces images that are part of the document by a short placeholder. */
  removeBase64Images: boolean;
  pdf: PdfOptions;
  /** The content of frames as HTML, by their addresses, if the page was read before and named them. */
  frames?: Readonly<Record<string, string>>;
}

export interface PageWants {
  markdown?: boolean;
  html?: boolean;
  rawHtml?: boolean;
  links?: boolean;
  images?: boolean;
  /** Of pages of HTML, whatever their main content is. */
  attributes?: readonly PageAttribute[];
}

/** An attribute of the elements that match a selector. */
export interface PageAttribute {
  selector: string;
  attribute: string;
}

export interface PdfOptions {
  /** False: the bytes are returned as base64, in `markdown`. */
  parse: boolean;
  /** Pages that are read, from the first. */
  pagesMax: number;
  /** Whether all pages shall be read from their pictures. */
  isOcr?: boolean;
  /** What a model has read from the pictures of pages, as Markdown by their numbers from 1: they have no other text. */
  recognized?: Readonly<Record<number, string>>;
}

/**
 * The attribute by which the browser marks elements that their computed style hides: `folded` for parts that a control may open, `away`
 * for those out of sight.
 */
export const hiddenMark = "data-tollgate-hidden";

/** The attribute in which the browser puts the documents of frames. */
export const frameMark = "data-tollgate-frame";

/** Documents of word processors, spreadsheets and presentations, and books. */
export type OfficeKind = "docx" | "xlsx" | "pptx" | "opendocument" | "rtf" | "epub";

export type DocumentKind = "html" | "pdf" | OfficeKind | "text" | "markdown" | "json" | "xml" | "feed" | "csv";

/** Facts about a page, by Firecrawl's names. Every other meta tag of the page is a member too, by its own name. */
export interface PageMetadata {
  title?: string;
  description?: string;
  language?: string;
  keywords?: string;
  author?: string;
  /** As the page writes it, usually ISO 8601. */
  publishedTime?: string;
  modifiedTime?: string;
  favicon?: string;
  canonical?: string;
  robots?: string;
  ogTitle?: string;
  ogDescription?: string;
  ogUrl?: string;
  ogImage?: string;
  ogSiteName?: string;
  ogLocale?: string;
  [name: string]: string | string[] | undefined;
}

/** A page that seems to be something else than its content: nothing, a check for robots, or a template that scripts have not filled. */
export type PageDoubt = "empty" | "challenge" | "unfilled";

/** A document that was taken apart. */
export interface Page {
  kind: DocumentKind;
  markdown?: string;
  html?: string;
  rawHtml?: string;
  /** Absolute addresses on the whole page, in its order, each once. */
  links?: string[];
  images?: string[];
  /** In the order of the request, with the values in the order of the page. */
  attributes?: (PageAttribute & { values: string[] })[];
  /** Addresses of frames of the page's own origin whose content belongs to it, and was not given. */
  frames?: string[];
  metadata: PageMetadata;
  /** The document is HTML whose content is made by scripts. */
  needsBrowser: boolean;
  /** Pages of a PDF that were read, and that it has. */
  pdfPages?: number;
  totalPdfPages?: number;
  /** Those of the read pages whose text can only be read from their pictures, by their numbers from 1. */
  scannedPages?: number[];
  /** Known of HTML whose Markdown was asked for. */
  doubt?: PageDoubt;
  /** The missing or doubtful parts of the result, for people. */
  warning?: string;
}
