import { type JsonObject, objectOf } from "../core/index.ts";
import { invalidParams, notificationText } from "./json-rpc.ts";
import { isLogged, type LogLevel, logLevelOf } from "./log-levels.ts";
import type { Outgoing } from "./outgoing.ts";
import { type Era, logLevelKey } from "./revisions.ts";
import type { SessionState, SessionStates } from "./session-states.ts";

/** A request whose client may get log messages. */
interface LoggedCall {
  era: Era;
  params: JsonObject;
  states: SessionStates;
  session: string | undefined;
  outgoing: Outgoing;
}

/** The log messages of servers during one request, for its client. */
export class ClientLog {
  readonly #call: LoggedCall;
  /** The lowest level that the client wants, as far as that is known; undefined if it has named none. */
  readonly level: LogLevel | undefined;
  /** Messages that wait for the state of the session. */
  #waiting: Promise<void> = Promise.resolve();
  /** Read once, however many messages wait for it. */
  #state: Promise<SessionState> | undefined;

  /** Undefined for a request without messages: one of 2026-07-28 that names no level. Throws -32602 for another level. */
  static of(call: LoggedCall): ClientLog | undefined {
    const { era, params, states, session } = call;
    if (!era.stateless) return new ClientLog(call, session === undefined ? undefined : states.known(session)?.level);
    const asked = objectOf(params["_meta"])?.[logLevelKey];
    if (asked === undefined) return undefined;
    const level = logLevelOf(asked);
    if (level === undefined) throw invalidParams(`_meta["${logLevelKey}"] is no level.`);
    return new ClientLog(call, level);
  }

  private constructor(call: LoggedCall, level: LogLevel | undefined) {
    this.#call = call;
    this.level = level;
  }

  /** `params`: as in `notifications/message`, whose `level` is one of those. */
  send(params: JsonObject): void {
    const level = logLevelOf(params["level"]);
    if (level === undefined) return;
    const pass = (from: LogLevel | undefined): void => {
      if (from === undefined || isLogged(level, from))
        this.#call.outgoing.notify(notificationText("notifications/message", params));
    };
    const { era, session, states } = this.#call;
    const known = session === undefined ? undefined : states.known(session);
    if (era.stateless || session === undefined || known !== undefined) return pass(known?.level ?? this.level);
    const passLater = ({ level: from }: SessionState): void => pass(from);
    this.#state ??= states.of(session);
    this.#waiting = Promise.all([this.#state, this.#waiting]).then(
      ([state]) => passLater(state),
      // The client can do without it.
      () => undefined,
    );
  }

  /** Resolves when all messages so far have been sent. */
  sent(): Promise<void> {
    return this.#waiting;
  }
}
