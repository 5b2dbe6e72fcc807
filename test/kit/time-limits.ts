/**
 * The time limits of all tests, for a machine several times slower than the one that a test was written on. They end what
 * hangs; nothing is judged by its speed.
 */

/** How long a test or a hook may take, in milliseconds. */
export const testMsMax = 300_000;

/** How long a condition or an answer may take, in milliseconds. */
export const waitMsMax = 60_000;
