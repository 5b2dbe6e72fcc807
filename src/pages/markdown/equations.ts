import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { findOne, textContent } from "domutils";
import { isDisplayFormula } from "./block-names.ts";
import { delimited, formulaOf } from "./formulas.ts";
import type { Row } from "./tables.ts";

/** The number of an equation: `(2.1)`. */
const label = /^\(?\w{1,4}([.-]\w{1,4}){0,3}\)?$/;

/** Tables for equations by the names that generators give them. */
const equationTable = /(^|[\s_-])(eqn|equations?|equationgroup)([\s_-]|$)/i;

/** Nodes of a cell that are looked at. */
const nodesMax = 50;

/**
 * The equations of a table that only puts them in place, with their numbers: one text a row. Papers that are made from LaTeX have
 * theirs so.
 */
export function equationsOf(table: Element, rows: readonly Row[]): string[] | undefined {
  const isForEquations = equationTable.test(table.attribs["class"] ?? "");
  if (!isForEquations && findOne((element) => isDisplayFormula(element), table.children) === null) return undefined;
  const equations: string[] = [];
  for (const { cells } of rows) {
    const equation = equationOf(cells);
    if (equation === undefined) return undefined;
    if (equation !== "") equations.push(equation);
  }
  return equations.length === 0 ? undefined : equations;
}

/** Undefined for a row with anything but formulas and, in front or at the end, a number. */
function equationOf(cells: readonly Element[]): string | undefined {
  const formulas: string[] = [];
  const labels: string[] = [];
  for (const cell of cells) {
    const formula = onlyFormulas(cell.children);
    if (formula === undefined) {
      const text = textContent(cell).trim();
      if (!label.test(text) || labels.length > 0) return undefined;
      labels.push(text);
    } else if (formula !== "") formulas.push(formula);
  }
  if (formulas.length === 0) return labels.length === 0 ? "" : undefined;
  return [delimited(formulas.join(" "), true), ...labels].join(" ");
}

/** The formulas that a cell consists of; "" if it is empty. */
function onlyFormulas(children: readonly ChildNode[]): string | undefined {
  const found: string[] = [];
  const waiting = children.toReversed();
  for (let seen = 0; waiting.length > 0; seen += 1) {
    const node = waiting.pop();
    if (node === undefined || seen > nodesMax) return undefined;
    if (isText(node) && node.data.trim() !== "") return undefined;
    if (!isTag(node)) continue;
    const formula = formulaOf(node);
    if (formula === undefined) waiting.push(...node.children.toReversed());
    else if (formula !== "") found.push(formula);
  }
  return found.join(" ");
}
