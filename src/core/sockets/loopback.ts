const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Whether the host of a URL, without its port, is this machine. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
