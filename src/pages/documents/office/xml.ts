import { Parser } from "htmlparser2";

/** Names of attributes and their values, with the prefixes of the document. */
export type Attributes = Readonly<Record<string, string>>;

/** What a reader of XML sees, in the document's order. An element without content is opened and closed. */
export interface XmlHandler {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Reads XML from its beginning to its end, without a tree. Entities that the document declares are not expanded. */
export function readXml(xml: string, handler: XmlHandler): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open?.(name, attributes),
      onclosetag: (name) => handler.close?.(name),
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}
