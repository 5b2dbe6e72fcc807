import type { CDPSession } from "playwright-core";

/**
 * Runs code of ours in a page, beside the page's own: it sees the same document, but none of the page's JavaScript, which
 * may have replaced the functions that the code uses.
 */
export class IsolatedWorld {
  readonly #session: CDPSession;

  constructor(session: CDPSession) {
    this.#session = session;
  }

  /** The JSON value of an expression. Rejects if it throws, or if the page navigates meanwhile. */
  async evaluate(expression: string): Promise<unknown> {
    const { frameTree } = await this.#session.send("Page.getFrameTree");
    const world = { frameId: frameTree.frame.id, worldName: "tollgate" };
    const { executionContextId } = await this.#session.send("Page.createIsolatedWorld", world);
    const { result, exceptionDetails } = await this.#session.send("Runtime.evaluate", {
      expression,
      contextId: executionContextId,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Ends the page's own scripts. Code of ours still runs. */
  async stopScripts(): Promise<void> {
    await this.#session.send("Emulation.setScriptExecutionDisabled", { value: true });
  }
}
