import { type Document, Element, isText, Text } from "domhandler";
import { parse, type TreeAdapter } from "parse5";
import { adapter, type Htmlparser2TreeAdapterMap } from "parse5-htmlparser2-tree-adapter";
import { PageError } from "../page-error.ts";
import { boundDepth } from "./bound-depth.ts";
import { openShadowRoots } from "./shadow-roots.ts";

/**
 * Levels of elements in a tree, the document included; as in Chromium. Deeper elements become siblings, so that the code
 * which reads a tree may recurse.
 */
export const treeLevelsMax = 512;

/**
 * Nodes that a page may make. Unclosed formatting elements are repeated in every paragraph, so that the number of nodes
 * can grow with the square of the page's length. A page of 5 MB that consists of links only has half a million.
 */
const treeNodesMax = 1_000_000;

/**
 * The tree of an HTML document, as the HTML standard builds it from any text: with `html`, `head` and `body`, tables
 * repaired, and no more than `treeLevelsMax` levels.
 * @throws PageError `too_large` beyond `treeNodesMax`.
 */
export function parseHtml(text: string): Document {
  const texts = new TextWriter();
  const document = parse<Htmlparser2TreeAdapterMap>(text, { treeAdapter: boundedAdapter(texts) });
  texts.end();
  boundDepth(document, treeLevelsMax);
  if (text.includes("shadowrootmode")) {
    openShadowRoots(document);
    boundDepth(document, treeLevelsMax);
  }
  return document;
}

/**
 * The namespaces of attributes, which only matter to drawings, and two objects for each element are a third of a tree's
 * memory: all elements share an empty one.
 */
const noNames: Readonly<Record<string, string>> = Object.freeze(noPrototype());

function noPrototype(): Record<string, string> {
  return Object.create(null) as Record<string, string>;
}

function boundedAdapter(texts: TextWriter): TreeAdapter<Htmlparser2TreeAdapterMap> {
  let nodes = 0;
  const count = (): void => {
    nodes += 1;
    if (nodes > treeNodesMax) throw new PageError("too_large", `the page has more than ${treeNodesMax} nodes`);
  };
  return {
    ...adapter,
    createElement(name, namespace, attributes) {
      count();
      const attribs = noPrototype();
      for (const { name: attribute, value } of attributes) attribs[attribute] = value;
      return Object.assign(new Element(name, attribs, []), {
        namespace,
        "x-attribsNamespace": noNames,
        "x-attribsPrefix": noNames,
      });
    },
    adoptAttributes({ attribs }, attributes) {
      for (const { name, value } of attributes) attribs[name] ??= value;
    },
    insertText(parent, text) {
      const last = parent.children.at(-1);
      if (last !== undefined && isText(last)) return texts.append(last, text);
      count();
      adapter.appendChild(parent, texts.begin(text));
    },
    insertTextBefore(parent, text, next) {
      if (next.prev !== null && isText(next.prev)) return texts.append(next.prev, text);
      count();
      adapter.insertBefore(parent, texts.begin(text), next);
    },
    createCommentNode(data) {
      count();
      return adapter.createCommentNode(data);
    },
  };
}

/**
 * Puts the pieces of a text together once it is whole. The parser hands a text over word by word; a string that grows so
 * keeps each of its pieces in memory, which are most of a tree.
 */
class TextWriter {
  #node = new Text("");
  #pieces: string[] = [];

  begin(text: string): Text {
    const node = new Text("");
    this.append(node, text);
    return node;
  }

  append(node: Text, text: string): void {
    if (node !== this.#node) {
      this.end();
      this.#node = node;
      this.#pieces = [node.data];
    }
    this.#pieces.push(text);
  }

  end(): void {
    this.#node.data = this.#pieces.join("");
  }
}
