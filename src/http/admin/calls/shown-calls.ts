import type { AccountsDependencies } from "../../../accounts/index.ts";
import type { Generation } from "../../../generations/index.ts";
import { callPlaces } from "../../../spending/index.ts";
import { answerOf } from "../../account/generation.ts";
import { placeJson } from "../place.ts";

/** The objects of some calls, with the names of their users and organisations. */
export async function shownCalls(deps: AccountsDependencies, calls: readonly Generation[]) {
  if (calls.length === 0) return [];
  const placeOf = await callPlaces(deps, calls);
  return calls.map((one) => ({ ...answerOf(one), ...placeJson(placeOf(one)) }));
}
