declare module "html-encoding-sniffer" {
  /** The name of a document's encoding by the standards of HTML or XML, or `defaultEncoding` where the document has no say. */
  export default function sniff(
    bytes: Uint8Array,
    options: {
      xml?: boolean;
      transportLayerEncodingLabel?: string;
      defaultEncoding?: string;
      maxPrescanBytes?: number;
    },
  ): string;
}
