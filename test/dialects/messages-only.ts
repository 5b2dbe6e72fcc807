import type { Simulators } from "../../simulators/index.ts";
import { simulatedKey } from "../kit/index.ts";

/** A provider that is asked in Messages alone, whatever its clients speak. */
export function messagesOnly({ providers }: Simulators): Record<string, object> {
  return {
    native: { kind: "anthropic", base_url: providers.anthropic, api_key: simulatedKey, dialects: ["messages"] },
  };
}
