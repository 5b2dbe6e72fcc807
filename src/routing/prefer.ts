/** The place of a candidate for a session, in [0, 1): the same in every process, and independent of the other candidates. */
export function placeOf(session: string, candidate: string): number {
  return Bun.hash.xxHash32(`${session}\n${candidate}`) / 2 ** 32;
}
