/** The guard against every known notation of a private address, and against names that resolve to one. */
import { describe, expect, test } from "bun:test";
import { AddressGuard, type GuardOptions } from "./guard.ts";
import { ownAddresses } from "./own-addresses.ts";
import { OutboundError, type OutboundFailure } from "./outbound-error.ts";

const PUBLIC = "93.184.215.14";

function guardWith(options: Partial<GuardOptions> = {}): AddressGuard {
  return new AddressGuard({
    allowPrivateHosts: [],
    allowPorts: [80, 443, 8080, 8443],
    resolve: () => Promise.resolve([PUBLIC]),
    ownAddresses: () => [],
    ...options,
  });
}

/** The failure of the whole check, look-up included; otherwise the addresses. */
async function outcome(guard: AddressGuard, url: string): Promise<readonly string[] | OutboundFailure> {
  try {
    return await guard.locate(guard.check(url));
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown;
    return thrown.failure;
  }
}

/** Hosts of a URL, by the reason why they are refused. No name among them is looked up. */
const privateHosts = {
  loopback: [
    "127.0.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0X7F000001",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0177.1",
    "127.0.0.1.",
    "127.0.0.1..",
    "127.1.",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡1",
    "0x7F.１",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "ｌｏｃａｌｈｏｓｔ",
    "ⓛocalhost",
    "app.localhost",
    "app.localhost.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::0.0.0.1]",
  ],
  "loopback within IPv6": [
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::8.8.8.8]",
    "[64:ff9b:1:ffff::8.8.8.8]",
    "[2002:7f00:1::]",
    "[2002:808:808::1]",
    "[2001::1]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
  ],
  metadata: [
    "169.254.169.254",
    "2852039166",
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    "[fd00:ec2::254]",
    "[fd00:0ec2:0:0:0:0:0:0254]",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "[::ffff:168.63.129.16]",
  ],
  "private, shared, link-local and unique local": [
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.257",
    "192.0.0.8",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.0.1",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fdff:ffff::1]",
  ],
  "not for hosts": [
    "0.0.0.0",
    "0",
    "0x0",
    "0.1.2.3",
    "[::]",
    "255.255.255.255",
    "4294967295",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "[ff02::1]",
    "[ff0e::1]",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
    "[2001:db8::1]",
    "[3fff::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[100::1]",
    "[5f00::1]",
    "[4000::1]",
    "[e000::1]",
    "[1::1]",
  ],
  "no valid host": [
    "256.1.1.1",
    "1.2.3.4.5",
    "0x100000000",
    "4294967296",
    "127.0.0.0x100",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1",
    "[::g]",
    "[::ffff:127.0.0.1.]",
    ".",
    "..",
    "a b.com",
    "exa%00mple.com",
    "xn--.com",
  ],
} as const;

describe("a URL whose host is", () => {
  for (const [reason, hosts] of Object.entries(privateHosts)) {
    test.each([...hosts])(`${reason} is refused: %s`, async (host) => {
      let lookups = 0;
      const resolve = (): Promise<string[]> => {
        lookups += 1;
        return Promise.resolve([PUBLIC]);
      };
      const guard = guardWith({ resolve });
      for (const scheme of ["http", "https"]) expect(await outcome(guard, `${scheme}://${host}/path`)).toBe("refused");
      expect(lookups).toBe(0);
    });
  }

  test.each([
    ["8.8.8.8", "8.8.8.8"],
    ["134744072", "8.8.8.8"],
    ["172.15.255.255", "172.15.255.255"],
    ["172.32.0.1", "172.32.0.1"],
    ["100.63.255.255", "100.63.255.255"],
    ["100.128.0.1", "100.128.0.1"],
    ["198.17.255.255", "198.17.255.255"],
    ["[2606:4700:4700::1111]", "2606:4700:4700::1111"],
    ["[::ffff:8.8.8.8]", "8.8.8.8"],
    ["[64:ff9b::8.8.8.8]", "64:ff9b::808:808"],
  ])("public is permitted: %s", async (host, address) => {
    expect(await outcome(guardWith(), `https://${host}/`)).toEqual([address]);
  });
});

describe("a URL", () => {
  test.each([
    "",
    "/path",
    "//example.com/",
    "example.com",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "ws://example.com/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "blob:https://example.com/1",
    "http:",
    "http://",
    "http:///",
    "http://user@example.com/",
    "http://:password@example.com/",
    "http://user:password@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "ht\ntp://127.0.0\t.1/",
    " http://127.0.0.1/ ",
    "http:127.0.0.1",
    "http:/127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http://example.com:22/",
    "http://example.com:6379/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "https://example.com:8081/",
    `https://example.com/${"x".repeat(2_048)}`,
  ])("is refused: %j", async (url) => {
    expect(await outcome(guardWith(), url)).toBe("refused");
  });

  test.each([
    ["https://example.com", "https://example.com/"],
    ["http://example.com:80/a?b#c", "http://example.com/a?b"],
    ["https://EXAMPLE.com.:8443/", "https://example.com:8443/"],
    ["http://bücher.example:8080/", "http://xn--bcher-kva.example:8080/"],
    ["http://ｅxample.com/", "http://example.com/"],
    ["http://example.com\\path", "http://example.com/path"],
    ["http://example.com\\@127.0.0.1/", "http://example.com/@127.0.0.1/"],
  ])("is normalised: %s", (url, normalised) => {
    expect(guardWith().check(url).url.href).toBe(normalised);
  });

  test("names neither itself nor its credentials in the error", () => {
    for (const url of ["http://user:hidden@example.com/", "http://127.0.0.1/hidden", "hidden"]) {
      expect(() => guardWith().check(url)).toThrow(expect.not.stringContaining("hidden"));
    }
  });
});

describe("a name", () => {
  const resolvingTo = (...addresses: string[]): AddressGuard =>
    guardWith({ resolve: () => Promise.resolve(addresses) });

  test.each<string[]>([
    ["127.0.0.1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:10.0.0.1"],
    ["fe80::1%eth0"],
    ["2606:4700::1%eth0"],
    ["fd00:ec2::254"],
    ["64:ff9b::a00:1"],
    ["0177.0.0.1"],
    ["no address"],
    [PUBLIC, "10.0.0.1"],
    ["10.0.0.1", PUBLIC],
    [PUBLIC, "2606:4700::1", "::1"],
  ])("that resolves to %s … is refused", async (...addresses) => {
    expect(await outcome(resolvingTo(...addresses), "https://example.com/")).toBe("refused");
  });

  test("has every address that the resolver returns, in its order", async () => {
    const addresses = ["2606:4700::1", PUBLIC, "8.8.4.4"];
    expect(await outcome(resolvingTo(...addresses), "https://example.com/")).toEqual(addresses);
  });

  test("is looked up without the dot at its end", async () => {
    const names: string[] = [];
    const resolve = (name: string): Promise<string[]> => {
      names.push(name);
      return Promise.resolve([PUBLIC]);
    };
    await outcome(guardWith({ resolve }), "https://example.com./");
    expect(names).toEqual(["example.com"]);
  });

  test("without an address is distinguished from a resolver that does not answer", async () => {
    const failing = (code: string): AddressGuard =>
      guardWith({ resolve: () => Promise.reject(Object.assign(new Error(code), { code })) });
    expect(await outcome(failing("ENOTFOUND"), "https://example.com/")).toBe("unresolved");
    expect(await outcome(resolvingTo(), "https://example.com/")).toBe("unresolved");
    expect(await outcome(failing("EAI_AGAIN"), "https://example.com/")).toBe("unreachable");
  });

  test("gives the same message as a private address", async () => {
    const messages = ["https://example.com/", "https://127.0.0.1/"].map(async (url) => {
      const guard = resolvingTo("10.0.0.1");
      return Promise.resolve()
        .then(() => guard.locate(guard.check(url)))
        .then(String, String);
    });
    expect(new Set(await Promise.all(messages)).size).toBe(1);
  });
});

describe("an address of this machine", () => {
  const resolve = (): Promise<string[]> => Promise.resolve(["2606:4700::5"]);
  const guard = guardWith({ resolve, ownAddresses: () => [PUBLIC, "2606:4700:0::0005", "127.0.0.1", "fe80::1%eth0"] });

  test("is refused, although it is public", async () => {
    for (const host of [PUBLIC, `[::ffff:${PUBLIC}]`, "[2606:4700:0:0::5]", "example.com"]) {
      expect(await outcome(guard, `https://${host}/`)).toBe("refused");
    }
    expect(await outcome(guard, "https://8.8.8.8/")).toEqual(["8.8.8.8"]);
  });

  test("is found", () => {
    expect(ownAddresses()).toContain("127.0.0.1");
  });
});

describe("an allowed private host", () => {
  const allowed = (entry: string, url: string, resolved = "10.0.0.9"): Promise<readonly string[] | OutboundFailure> =>
    outcome(guardWith({ allowPrivateHosts: [entry], resolve: () => Promise.resolve([resolved]) }), url);

  test.each([
    ["localhost", "http://localhost:9000/", "10.0.0.9"],
    ["LocalHost", "http://LOCALHOST./", "10.0.0.9"],
    ["hooks.internal:9000", "http://hooks.internal:9000/", "10.0.0.9"],
    ["*.internal", "https://a.b.internal:12/", "10.0.0.9"],
    ["127.0.0.1", "http://2130706433:5000/", "127.0.0.1"],
    ["127.0.0.1:*", "http://127.1:5000/", "127.0.0.1"],
    ["10.0.*", "http://10.0.3.4/", "10.0.3.4"],
    ["10.0.*:81", "http://10.0.3.4:81/", "10.0.3.4"],
    ["[::1]", "http://[0::1]:99/", "::1"],
    ["[::1]:99", "http://[::1]:99/", "::1"],
    ["*", "http://169.254.169.254/", "169.254.169.254"],
    ["*:9000", "http://a.internal:9000/", "10.0.0.9"],
  ])("by %s permits %s", async (entry, url, address) => {
    expect(await allowed(entry, url)).toEqual([address]);
  });

  test.each([
    ["localhost", "http://127.0.0.1/"],
    ["127.0.0.1", "http://localhost/"],
    ["hooks.internal:9000", "http://hooks.internal/"],
    ["hooks.internal:9000", "http://hooks.internal:9001/"],
    ["*.internal", "http://internal/"],
    ["*.internal", "http://internal.example.com/"],
    ["10.0.*", "http://10.0.example.com/"],
    ["10.0.*:81", "http://10.0.example.com:81/"],
    ["*.0.0.1", "http://127.0.0.1.example.com/"],
    ["127.*", "http://127.evil.example/"],
    ["", "http://127.0.0.1/"],
  ])("by %j does not permit %s", async (entry, url) => {
    expect(await allowed(entry, url)).toBe("refused");
  });

  test("still needs http or https, and no credentials", async () => {
    expect(await allowed("*", "ftp://localhost/")).toBe("refused");
    expect(await allowed("*", "http://user@localhost/")).toBe("refused");
  });
});
