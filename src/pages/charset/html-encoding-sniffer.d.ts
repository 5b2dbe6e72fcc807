declare module "html-encoding-sniffer" {
  /** The name of a document's encoding by the standards of HTML or XML, or `defaultEncoding` for a document without its own. */
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
