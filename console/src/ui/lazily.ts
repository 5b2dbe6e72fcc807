/** A value that is made when it is first needed. The first format of numbers or dates takes a browser about ten milliseconds. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
