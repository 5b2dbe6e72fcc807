import { type ErrorCode, GatewayError } from "../core/index.ts";

/** A violation of the accounts' rules; the message is one line for an administrator. */
export class AccountError extends GatewayError {
  constructor(message: string, code: ErrorCode = "account_conflict", param?: string) {
    super(code, message, { param });
    this.name = "AccountError";
  }
}
