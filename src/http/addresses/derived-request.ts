const received = new WeakMap<Request, Request>();

/** The request with another URL. Its server knows neither the network address nor the connection of a copy. */
export function withUrl(url: string, request: Request): Request {
  const derived = new Request(url, request);
  received.set(derived, receivedRequest(request));
  return derived;
}

/** The request as the server received it. */
export function receivedRequest(request: Request): Request {
  return received.get(request) ?? request;
}
