import type { Model } from "../../api/types.ts";
import { Amount } from "../../money/amount.tsx";
import { costOf } from "../models/cost.ts";
import { aboutTokens } from "./conversation.ts";

interface CostBeforeProps {
  model: Model | undefined;
  body: object;
  tokensMax: number;
}

/** About the most that the next call costs. */
export function CostBefore({ model, body, tokensMax }: CostBeforeProps) {
  if (model === undefined) return null;
  const cost = costOf(model.pricing, aboutTokens(body), tokensMax);
  if (cost === undefined) return <p className="text-muted">It is not priced by tokens.</p>;
  return (
    <p className="border-t border-line pt-4 text-soft">
      The next call costs about <Amount value={cost} className="font-medium" /> credits at most.
    </p>
  );
}
