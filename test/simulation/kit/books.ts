import type { Nano } from "../../../src/core/index.ts";
import { workOf, type World } from "./world.ts";

/** The sum that the store has charged for a work, and the part that it could not charge. */
interface Charged {
  net: Nano;
  shortfall: Nano;
}

/** After everything has ended: no hold is left, and every work is charged once, with the cost of its end. */
export async function checkBooks(world: World): Promise<void> {
  const { inner } = world;
  const holds = await inner.openHolds();
  world.expect(holds.length === 0, () => `holds are left open: ${holds.map(({ id }) => id).join(", ")}`);
  const { drifts } = await inner.audit();
  for (const { accountId, counter, recorded, recomputed } of drifts) {
    world.find(`the books drift: ${counter} of ${accountId} is ${recorded}, not ${recomputed}`);
  }
  const charges = await readCharges(world);
  for (const { id, cost } of world.works) {
    if (cost === undefined) continue;
    const { net, shortfall } = charges.get(id) ?? { net: 0n, shortfall: 0n };
    world.expect(
      net + shortfall === cost,
      () => `${id}: cost ${cost}, charged ${net} with a shortfall of ${shortfall}`,
    );
  }
}

async function readCharges({ inner }: World): Promise<Map<string, Charged>> {
  const charges = new Map<string, Charged>();
  for await (const page of inner.books.pages(0, Number.MAX_SAFE_INTEGER)) {
    for (const { id, kind, creditAccount, amount, shortfall } of page) {
      if (kind === "grant") continue;
      const known = charges.get(workOf(id)) ?? { net: 0n, shortfall: 0n };
      const isBack = creditAccount !== "revenue";
      charges.set(workOf(id), { net: known.net + (isBack ? -amount : amount), shortfall: known.shortfall + shortfall });
    }
  }
  return charges;
}
