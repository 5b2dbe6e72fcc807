/** Images that the gateway makes. */
import { type BegunUse, nativeBlock, type UseItems } from "./begun-use.ts";

export function imageItems({ id }: BegunUse): UseItems {
  const item = { id: `ig_${id}`, type: "image_generation_call" };
  return {
    begun: nativeBlock("responses", { ...item, status: "in_progress", result: null }),
    ended({ image }) {
      if (image === undefined) return { ...item, status: "failed", result: null };
      return { ...item, status: "completed", ...image.described, result: image.data };
    },
  };
}
