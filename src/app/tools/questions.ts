/** The part of the composition for requests that servers of tools interrupt with questions. */
import type { Config } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import type { RunningPart } from "../../http/index.ts";
import { type ForwardedAnswer, McpEndpoint, Questions } from "../../mcp/index.ts";
import { encryptionKey, type Storage } from "../../storage/index.ts";
import type { MemoryBudget, Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import {
  InterruptedCalls,
  openLetterStore,
  openSessionStateStore,
  ProcessMail,
  RequestStates,
  StoredSessionStates,
} from "../../tools/index.ts";

interface QuestionNeeds {
  config: Config;
  environment: Pick<Environment, "clock" | "randomBytes">;
  storage: Storage;
  logger: Logger;
  ticker: Ticker;
  memory: MemoryBudget;
}

export interface ToolQuestions {
  requestStates: RequestStates;
  endpoint: McpEndpoint;
  /** The requests of clients of 2026-07-28 that are open at servers of 2025. */
  interruptedCalls: InterruptedCalls;
  running: RunningPart;
}

export function createToolQuestions({
  config,
  environment,
  storage,
  logger,
  ticker,
  memory,
}: QuestionNeeds): ToolQuestions {
  const { clock, randomBytes } = environment;
  const key = encryptionKey({ configured: config.webhooks.encryption_key, storage, randomBytes });
  const requestStates = new RequestStates({ key, randomBytes });
  const mail = new ProcessMail({
    // On SQLite there is one process.
    store: storage.engine === "postgres" ? openLetterStore(storage) : undefined,
    watch: (onLetter) => storage.onForeignCommit(onLetter, "toolMail"),
    sealing: requestStates,
    memory,
    ticker,
    clock,
    randomBytes,
    logger,
  });
  const questions = new Questions({
    randomBytes,
    ticker,
    clock,
    sealing: requestStates,
    process: mail.process,
    // Without other processes, the one that has asked was ended by a restart: nobody waits any more.
    forward: async (process, answer) => !mail.hasOthers || mail.send(process, "answer", { ...answer }),
  });
  mail.on("answer", (letter) => questions.receive(letter as unknown as ForwardedAnswer));
  const states = new StoredSessionStates({
    store: openSessionStateStore(storage),
    clock,
    watch: (onChange) => storage.onForeignCommit(onChange, "toolSessions"),
  });
  const interruptedCalls = new InterruptedCalls({ ticker, randomBytes, clock, mail });
  return {
    requestStates,
    endpoint: new McpEndpoint({ ticker, randomBytes, questions, states }),
    interruptedCalls,
    running: {
      close: () => interruptedCalls.close(),
      stop: () => {
        states.stop();
        return mail.stop();
      },
    },
  };
}
