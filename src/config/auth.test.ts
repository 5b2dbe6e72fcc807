import { describe, expect, test } from "bun:test";
import { ConfigError } from "./values/interpolate.ts";
import { checkConfig } from "./load.ts";

const corp = { name: "corp", issuer: "https://id.acme.test/realms/a", audience: "gateway" };

function outcome(...issuers: object[]): string {
  try {
    checkConfig({ providers: {}, auth: { issuers } });
    return "nothing is wrong";
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.message;
    throw thrown;
  }
}

test("an issuer makes no users, and gives no roles, unless it is told to", () => {
  const { auth } = checkConfig({ providers: {}, auth: { issuers: [corp] } });
  expect(auth.issuers).toEqual([{ ...corp, claims: { user: "sub" }, require: {}, roles: {}, create: false }]);
});

describe("an issuer that serves everybody needs a requirement", () => {
  test.each([
    "https://token.actions.githubusercontent.com",
    "https://token.actions.githubusercontent.com/acme",
    "https://TOKEN.actions.githubusercontent.com/",
    "https://gitlab.com",
    "https://gitlab.com/",
    "https://accounts.google.com",
    "https://login.microsoftonline.com/common/v2.0",
    "https://login.microsoftonline.com/organizations/v2.0",
    "https://login.microsoftonline.com/Consumers/v2.0",
  ])("%s", (issuer) => {
    for (const require of [undefined, {}, { hd: "*" }, { hd: ["acme.test", "**"] }, { aud: "gateway" }, { iss: "x" }])
      expect(outcome({ ...corp, issuer, ...(require && { require }) })).toContain("auth.issuers.0.require");
    expect(outcome({ ...corp, issuer, require: { repository_owner: "acme" } })).toBe("nothing is wrong");
  });

  test("one of a single company does not", () => {
    expect(outcome(corp)).toBe("nothing is wrong");
    const tenant = "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0";
    expect(outcome({ ...corp, issuer: tenant })).toBe("nothing is wrong");
    expect(outcome({ ...corp, issuer: "https://gitlab.acme.test" })).toBe("nothing is wrong");
  });
});

describe("a start is stopped, with the path, by", () => {
  test.each<[string, object, string]>([
    ["plain HTTP", { issuer: "http://id.acme.test" }, "auth.issuers.0.issuer"],
    ["a password in the address", { issuer: "https://a:b@id.acme.test" }, "auth.issuers.0.issuer"],
    ["a query in the address", { issuer: "https://id.acme.test/?a=b" }, "auth.issuers.0.issuer"],
    ["another protocol", { issuer: "file:///etc/keys" }, "auth.issuers.0.issuer"],
    ["no audience", { audience: undefined }, "auth.issuers.0.audience"],
    ["an empty audience", { audience: [] }, "auth.issuers.0.audience"],
    ["a role that is none", { claims: { role: "groups" }, roles: { admins: "admin" } }, "auth.issuers.0.roles.admins"],
    ["roles without their claim", { roles: { admins: "owner" } }, "auth.issuers.0.roles"],
    ["a role's claim without roles", { claims: { role: "groups" } }, "auth.issuers.0.roles"],
    ["an unknown key", { algorithms: ["HS256"] }, "auth.issuers.0"],
  ])("%s", (_, changes, path) => expect(outcome({ ...corp, ...changes })).toContain(path));

  test("the same name or issuer twice", () => {
    expect(outcome(corp, { ...corp, issuer: "https://other.test" })).toContain("each name once");
    expect(outcome(corp, { ...corp, name: "other" })).toContain("each issuer once");
  });
});

test.each(["http://127.0.0.1:8080/realm", "http://localhost", "http://[::1]:9000"])(
  "%s is on this machine",
  (issuer) => {
    expect(outcome({ ...corp, issuer })).toBe("nothing is wrong");
  },
);

describe("a sign-in of browsers", () => {
  const firm = { issuer: "https://id.acme.test", client_id: "gateway", client_secret: "s" };
  const checked = (signIn: object): string => {
    try {
      checkConfig({ providers: {}, auth: { sign_in: signIn } });
      return "nothing is wrong";
    } catch (thrown) {
      if (thrown instanceof ConfigError) return thrown.message;
      throw thrown;
    }
  };

  test("makes no users, and gives no roles, unless it is told to", () => {
    const { auth } = checkConfig({ providers: {}, auth: { sign_in: { firm } } });
    const absent = {
      claims: { user: "sub", role: undefined },
      require: {},
      roles: {},
      create: false,
    };
    expect(auth.sign_in).toEqual({ firm: { ...firm, scopes: ["openid", "profile", "email"], ...absent } });
  });

  test.each<[string, object, string]>([
    ["plain HTTP", { firm: { ...firm, issuer: "http://id.acme.test" } }, "auth.sign_in.firm.issuer"],
    ["freshness by the provider's word", { firm: { ...firm, fresh_by: "prompt" } }, "auth.sign_in.firm"],
    ["no client", { firm: { ...firm, client_id: undefined } }, "auth.sign_in.firm.client_id"],
    ["scopes without openid", { firm: { ...firm, scopes: ["email"] } }, "auth.sign_in.firm.scopes"],
    ["roles without their claim", { firm: { ...firm, roles: { chiefs: "owner" } } }, "auth.sign_in.firm.roles"],
    ["everybody", { firm: { ...firm, issuer: "https://accounts.google.com" } }, "auth.sign_in.firm.require"],
    ["a name that is a path", { "a/b": firm }, "auth.sign_in.a/b"],
  ])("stops a start by %s", (_what, signIn, path) => expect(checked(signIn)).toContain(path));
});
