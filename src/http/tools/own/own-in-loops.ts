import { namingHeaders } from "../../../core/index.ts";
import type { OwnTools } from "../../../hosted/index.ts";
import type { Services } from "../../services.ts";
import { askToConnect } from "../tool-door.ts";
import { errorResult } from "./ask-route.ts";
import { readImage } from "./files.ts";
import { allowedDefinitions, callOwnTool } from "./own-tools.ts";

const MAX_CREDITS = "x-tollgate-max-credits";

/** The gateway's own tools for calls whose tools it runs. Jobs are waited for as long as for any client that follows none. */
export function ownInLoops(services: () => Services): OwnTools {
  return {
    definitions: (principal) => allowedDefinitions(services().mcp.models, principal).map((each) => ({ ...each })),
    connect: (server, caller) => askToConnect(server, { ...caller, services: services() }),
    async call({ headers, ...call }) {
      const most = headers.get(MAX_CREDITS);
      const naming = { ...namingHeaders(headers), ...(most !== null && { [MAX_CREDITS]: most }) };
      const given = { ...call, naming, takesTasks: false, onProgress: undefined, services: services() };
      const answered = await callOwnTool(given);
      const { result, headers: told = {} } = answered ?? { result: errorResult("There is no such tool here.") };
      return { result: { ...result }, headers: told };
    },
    image: (url, signal) => readImage(url, { services: services(), signal }),
  };
}
