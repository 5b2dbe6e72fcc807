import { expect, test } from "bun:test";
import { includesRole, roleOfToken, roles } from "./roles.ts";

test("an owner has every role, every role a member's, and no other role another one", () => {
  for (const role of roles)
    for (const other of roles)
      expect([role, other, includesRole(role, other)]).toEqual([
        role,
        other,
        role === other || role === "owner" || other === "member",
      ]);
});

test("a token never has more than its user", () => {
  for (const ofUser of roles) {
    expect(roleOfToken(ofUser, undefined)).toBe(ofUser);
    for (const own of roles) expect(includesRole(ofUser, roleOfToken(ofUser, own))).toBe(true);
  }
  expect(roleOfToken("owner", "auditor")).toBe("auditor");
  // The user has lost what the token had: it is not given another right in exchange.
  expect(roleOfToken("auditor", "billing")).toBe("member");
});
