/** The server's certificate is not trusted, or is not for the requested host. */
export class CertificateError extends Error {
  override name = "CertificateError";
  /** The TLS library's code, such as `CERT_HAS_EXPIRED`. */
  readonly code: string | undefined;

  constructor(problem: Error | null) {
    super(problem?.message ?? "The upstream's certificate is not trusted.");
    this.code = problem !== null && "code" in problem ? String(problem.code) : undefined;
  }
}
