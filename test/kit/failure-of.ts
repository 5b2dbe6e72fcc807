/** The reason of a rejection; throws if the promise is fulfilled. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  if (outcome === undefined) throw new Error("it did not fail");
  return outcome.cause;
}
