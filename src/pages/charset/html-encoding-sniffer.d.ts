declare module "html-encoding-sniffer" {
  /** The name of a document's encoding by its mark, the label, or HTML's tags (not XML's declaration), else `defaultEncoding`. */
  export default function sniff(
    bytes: Uint8Array,
    options: {
      xml?: boolean;
      transportLayerEncodingLabel?: string;
      defaultEncoding?: string;
    },
  ): string;
}
