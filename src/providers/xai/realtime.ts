import { type JsonObject, objectOf } from "../../core/index.ts";
import { readRealtimeUsage, realtimeOperation } from "../shared/realtime-operation.ts";

/** xAI keeps `voice` flat and calls the kinds of answers `modalities`. */
function toUpstreamSession(session: JsonObject): JsonObject {
  const { output_modalities: modalities, type: _type, ...rest } = session;
  const nested = objectOf(objectOf(rest["audio"])?.["output"])?.["voice"];
  return {
    ...(nested === undefined ? {} : { voice: nested }),
    ...(modalities === undefined ? {} : { modalities }),
    ...rest,
  };
}

/** xAI's voice agents, which are billed by the time that they are connected (`docs/wire/xai.md`). */
export const realtime = realtimeOperation({
  query: (_type, model) => `model=${encodeURIComponent(model)}`,
  toUpstreamSession,
  readUsage: readRealtimeUsage,
});
