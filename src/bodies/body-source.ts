/** Where a body is read from: a request, or anything that holds bytes as one does. To be read once. */
export type BodySource = Pick<Request, "headers" | "body" | "bytes">;
