/** The source of a body: a request, or any object that provides bytes in the same way. Can be read once. */
export type BodySource = Pick<Request, "headers" | "body" | "bytes">;
