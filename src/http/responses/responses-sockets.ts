import type { SessionLimit } from "../../auth/index.ts";
import { type Clock, GatewayError } from "../../core/index.ts";
import type { ModelRouter } from "../../routing/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { SocketAsker } from "../../upstream/index.ts";
import type { ChargeableServices } from "../chargeable.ts";
import type { Route } from "../route.ts";
import { responsesCalls } from "./create-response.ts";
import { ResponsesSocket } from "./socket/responses-socket.ts";

/** The operator's settings of these sockets. */
export interface ResponsesSocketSettings {
  isOffered: boolean;
  /** Open connections by token. */
  limit: SessionLimit;
  connectionMsMax: number;
  /** Messages of a client in one second. */
  messagesPerSecondMax: number;
  /** Creates the sender of the turns of one connection. */
  newAsker: () => SocketAsker;
}

interface Needs extends Pick<ChargeableServices, "responseStore"> {
  /** As of now: each turn of a connection is a call of its own. */
  latest: () => Pick<ChargeableServices, "pipeline"> & { router: ModelRouter };
  clock: Clock;
  logger: Logger;
  responsesSockets: ResponsesSocketSettings;
}

/** `GET /v1/responses` as a WebSocket, which Codex and OpenAI's SDK open first. They use HTTP after a 426. */
export const responsesSocketRoute: Route<Needs> = {
  kind: "session",
  method: "get",
  path: "/v1/responses",
  surface: "openai",
  handle({ caller, request, requestId: id }, needs) {
    const { responseStore, latest, clock, logger, responsesSockets } = needs;
    const { isOffered, limit, connectionMsMax, messagesPerSecondMax, newAsker } = responsesSockets;
    const route = { ...responsesCalls, responseStore };
    if (!isOffered) throw new GatewayError("upgrade_required", "Responses over WebSockets are switched off. Use POST.");
    if (caller.grant !== undefined)
      throw new GatewayError("invalid_token", "The client secret opens only realtime sessions.");
    const { principal } = caller;
    const socket = new ResponsesSocket({
      run: (incoming) => latest().pipeline.run(route, incoming),
      check: (model) => void latest().router.resolve(model, route.operations, principal),
      asker: newAsker(),
      id,
      caller,
      headers: request.headers,
      clock,
      logger,
      connectionMsMax,
      onEnd: limit.enter(principal.tokenId),
    });
    return { socket, bounds: { messagesPerSecondMax } };
  },
};
