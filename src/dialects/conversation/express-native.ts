import { type Dialect, stringOf } from "../../core/index.ts";
import type { Turn } from "./conversation.ts";
import type { Part } from "./parts.ts";
import { invalid } from "./read.ts";
import type { TranslationTarget } from "./translation.ts";

type ThoughtReader = Pick<TranslationTarget, "plainThoughts">;

/** Whether an upstream does not know a part. */
type IsForeign = (part: Part) => boolean;

/**
 * The turns for an upstream of this dialect: parts that only another one has, and that have a content for others, are texts. One
 * that stands for everything before it is the first turn after the prompts.
 */
export function expressNative(
  turns: readonly Turn[],
  dialect: Dialect,
  target: Pick<TranslationTarget, "foreignItems" | "foreignIds" | "plainThoughts" | "changed">,
): readonly Turn[] {
  const { foreignItems = [], foreignIds, changed } = target;
  const isForeign: IsForeign = (part) => {
    if (part.kind === "reasoning") return part.id !== undefined && foreignIds?.has(part.id) === true;
    const native = part.kind === "image" ? part.native : part;
    if (native === undefined || !("dialect" in native)) return false;
    if (native.dialect !== dialect) return part.kind === "native";
    const { type, id, approval_request_id: approved } = native.value;
    if (foreignItems.includes(stringOf(type))) return true;
    return foreignIds !== undefined && (foreignIds.has(stringOf(id)) || foreignIds.has(stringOf(approved)));
  };
  const says = ({ parts }: Turn): boolean =>
    parts.some((part) => isForeign(part) || (part.kind === "tool-result" && part.content.some(isForeign)));
  if (!turns.some(says)) return turns;
  changed?.("hosted-items");
  const expressed = withoutReplaced(turns, dialect).flatMap((turn) => {
    const parts = expressParts(turn.parts, isForeign, target);
    return parts.length === 0 && turn.parts.length > 0 ? [] : [{ ...turn, parts }];
  });
  if (expressed.length === 0) throw invalid(turns[0]?.at ?? "input", "holds nothing for this model's provider");
  return expressed;
}

/** A text that stands for a part is a paragraph of its own: dialects with one text a message join those of all parts. */
function expressParts(parts: readonly Part[], isForeign: IsForeign, target: ThoughtReader): Part[] {
  const expressed: Part[] = [];
  let afterForeign = false;
  for (const part of parts) {
    const written = expressPart(part, isForeign, target);
    const isChanged = written !== part;
    if (written === undefined) continue;
    const before = expressed.at(-1);
    const adjoins = before?.kind === "text" && written.kind === "text" && (isChanged || afterForeign);
    if (adjoins && !before.text.endsWith("\n\n"))
      expressed[expressed.length - 1] = { ...before, text: `${before.text}\n\n` };
    expressed.push(written);
    afterForeign = isChanged;
  }
  return expressed;
}

/** The part itself if the upstream knows it; undefined for nothing. */
function expressPart(part: Part, isForeign: IsForeign, target: ThoughtReader): Part | undefined {
  if (part.kind === "tool-result") return { ...part, content: expressParts(part.content, isForeign, target) };
  if (part.kind === "image" && isForeign(part)) return { ...part, native: undefined };
  if (part.kind === "reasoning" && isForeign(part)) {
    const { kind, text, summary } = part;
    return target.plainThoughts === true ? { kind, text, summary } : undefined;
  }
  if (part.kind !== "native" || !isForeign(part)) return part;
  if (part.text === undefined) {
    if (part.refusal !== undefined) throw invalid(part.at ?? "input", part.refusal);
    return part;
  }
  return part.text === "" ? undefined : { kind: "text", at: part.at, text: part.text };
}

function withoutReplaced(turns: readonly Turn[], dialect: Dialect): readonly Turn[] {
  const stands = (part: Part): boolean => part.kind === "native" && part.replaces === true && part.dialect !== dialect;
  const last = turns.findLastIndex(({ parts }) => parts.some(stands));
  const turn = turns[last];
  if (turn === undefined) return turns;
  const at = turn.parts.findLastIndex(stands);
  const prompts = turns.slice(0, last).filter(({ role }) => role === "system" || role === "developer");
  const standing: Turn = { role: "user", at: turn.at, parts: turn.parts.slice(at, at + 1) };
  const rest = turn.parts.slice(at + 1);
  return [...prompts, standing, ...(rest.length === 0 ? [] : [{ ...turn, parts: rest }]), ...turns.slice(last + 1)];
}
