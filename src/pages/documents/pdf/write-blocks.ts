/** A PDF contains no more than paragraphs, headings and tables. */
import { escapeUTF8 } from "entities";
import type { PdfBlock } from "./paragraphs.ts";

export function writeMarkdown(blocks: readonly PdfBlock[]): string {
  return blocks.map(blockMarkdown).join("\n\n");
}

function blockMarkdown(block: PdfBlock): string {
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(block.level)} ${block.text}`;
    case "table":
    case "markdown":
      return block.text;
    case "text":
      // A text that begins like a heading or a quote of Markdown is none.
      return block.text.replace(/^(?=#{1,6}\s|>)/, "\\");
  }
}

export function writeHtml(blocks: readonly PdfBlock[]): string {
  return blocks.map(blockHtml).join("\n");
}

function blockHtml(block: PdfBlock): string {
  switch (block.kind) {
    case "heading":
      return `<h${block.level}>${escapeUTF8(block.text)}</h${block.level}>`;
    case "table":
      return `<table>${block.cells.map((row, index) => rowHtml(row, index === 0 ? "th" : "td")).join("")}</table>`;
    case "markdown":
      return `<pre>${escapeUTF8(block.text)}</pre>`;
    case "text":
      return `<p>${escapeUTF8(block.text)}</p>`;
  }
}

function rowHtml(cells: readonly string[], name: string): string {
  return `<tr>${cells.map((cell) => `<${name}>${escapeUTF8(cell)}</${name}>`).join("")}</tr>`;
}
