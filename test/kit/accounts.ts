/** Acts on accounts, for tests of any folder of src/. */
export { createAccounts } from "../../src/app/accounts.ts";
