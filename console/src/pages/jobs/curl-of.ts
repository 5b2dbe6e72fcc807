/** A request with a JSON body, as somebody would write it in a shell. */
export function curlOf(path: string, body: string): string {
  return `curl -s ${location.origin}${path} \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}
