import ipaddr from "ipaddr.js";

/** 64:ff9b::/96, in which NAT64 gateways embed IPv4 addresses. */
const NAT64_PREFIX = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

/** ::ffff:0:0/96, another notation of IPv4 addresses. */
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Public by registration, but served by the host of a virtual machine: the metadata and DNS service of Azure. The metadata
 * services of other clouds have link-local, unique local or shared addresses.
 */
const HOST_SERVICES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * The normal notation of an address that belongs to the public Internet; undefined for any other text. Everything that is
 * not known as public is refused: private, loopback, link-local, shared (CGNAT), documentation, benchmarking, multicast
 * and reserved addresses, and tunnels (6to4, Teredo), whose inner address is somebody's choice. An IPv4 address within an
 * IPv6 address is judged itself.
 */
export function publicAddress(text: string): string | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return publicIpv4(address);
  // A zone is a network interface of this machine.
  if (address.zoneId !== undefined) return undefined;
  const bytes = address.toByteArray();
  const inner = new ipaddr.IPv4(bytes.slice(12));
  if (beginsWith(bytes, MAPPED_PREFIX)) return publicIpv4(inner);
  if (beginsWith(bytes, NAT64_PREFIX)) return publicIpv4(inner) && address.toString();
  return isGlobalUnicast(address) ? address.toString() : undefined;
}

function publicIpv4(address: ipaddr.IPv4): string | undefined {
  const text = address.toString();
  return address.range() === "unicast" && !HOST_SERVICES.has(text) ? text : undefined;
}

/** 2000::/3 without its special ranges: all other addresses are local or not assigned. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  const [first = 0] = address.toByteArray();
  return first >> 5 === 0b001 && address.range() === "unicast";
}

function beginsWith(bytes: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}
