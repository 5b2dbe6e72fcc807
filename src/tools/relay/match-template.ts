/** More expressions than a template of a resource has. */
const EXPRESSIONS_MAX = 20;

/**
 * Whether an address can come from a template (RFC 6570): its literal parts stand in the address, in their order. Which values the
 * expressions have decides the server.
 */
export function matchesTemplate(template: string, address: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  if (literals.length === 1 || literals.length > EXPRESSIONS_MAX + 1) return false;
  const [first = "", ...rest] = literals;
  const last = rest.pop() ?? "";
  if (!address.startsWith(first) || address.length < first.length + last.length || !address.endsWith(last))
    return false;
  const end = address.length - last.length;
  let at = first.length;
  for (const literal of rest) {
    const found = address.indexOf(literal, at);
    if (found === -1 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
