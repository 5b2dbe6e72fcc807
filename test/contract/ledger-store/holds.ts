/** Taking a hold: room in each link, all links or none, idempotence. */
import {
  conflict,
  exists,
  grant,
  granted,
  held,
  hold,
  insufficient,
  type LedgerCase,
  noAccount,
  organisation,
  release,
  released,
  settle,
  settled,
  token,
  user,
} from "./world.ts";

const alice = user("alice", { prepaid: true });
const company = organisation("company", { maxBudget: 100n });
const employee = user("employee", { prepaid: true, parentId: company.id });
const badge = token("badge", { parentId: employee.id, maxBudget: 100n });
const three = [company, employee, badge];

/** A chain of three in which one link has room for 50 and the others for 100. */
function narrow(link: "token" | "user" | "organisation"): LedgerCase {
  const room = (kind: string): bigint => (kind === link ? 50n : 100n);
  const accounts = [
    organisation("company", { maxBudget: room("organisation") }),
    employee,
    token("badge", { parentId: employee.id, maxBudget: room("token") }),
  ];
  const narrowest = accounts.find(({ kind }) => kind === link)?.id ?? "";
  return {
    title: `a chain of three whose ${link} lacks room holds in none`,
    accounts,
    steps: [
      [grant("g", employee.id, room("user")), granted],
      [hold("h", badge.id, 51n), insufficient(narrowest, 50n)],
      [hold("h", badge.id, 50n), held],
    ],
    after: {
      [badge.id]: { pending: 50n },
      [employee.id]: { credits: room("user"), pending: 50n },
      [company.id]: { pending: 50n },
    },
    open: ["h"],
  };
}

const rooms: LedgerCase[] = [
  {
    title: "a prepaid account without credits has no room",
    accounts: [alice],
    steps: [[hold("h", alice.id, 1n), insufficient(alice.id, 0n)]],
    after: { [alice.id]: {} },
  },
  {
    title: "a hold takes all the room there is, and the next finds none",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("a", alice.id, 100n), held],
      [hold("b", alice.id, 1n), insufficient(alice.id, 0n)],
    ],
    after: { [alice.id]: { credits: 100n, pending: 100n } },
    open: ["a"],
  },
  {
    title: "open holds count against the room of the next",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("a", alice.id, 60n), held],
      [hold("b", alice.id, 41n), insufficient(alice.id, 40n)],
      [hold("c", alice.id, 40n), held],
    ],
    after: { [alice.id]: { credits: 100n, pending: 100n } },
    open: ["a", "c"],
  },
  {
    title: "a budget limits without any credits",
    accounts: [token("alone", { maxBudget: 30n })],
    steps: [
      [hold("a", "token:alone", 31n), insufficient("token:alone", 30n)],
      [hold("b", "token:alone", 30n), held],
    ],
    after: { "token:alone": { pending: 30n } },
    open: ["b"],
  },
  {
    title: "a budget below the balance of the same account wins",
    accounts: [user("bob", { prepaid: true, maxBudget: 70n })],
    steps: [
      [grant("g", "user:bob", 100n), granted],
      [hold("a", "user:bob", 71n), insufficient("user:bob", 70n)],
    ],
    after: { "user:bob": { credits: 100n } },
  },
  {
    title: "a balance below the budget of the same account wins",
    accounts: [user("bob", { prepaid: true, maxBudget: 170n })],
    steps: [
      [grant("g", "user:bob", 100n), granted],
      [hold("a", "user:bob", 101n), insufficient("user:bob", 100n)],
    ],
    after: { "user:bob": { credits: 100n } },
  },
  {
    title: "a chain without limits has room for anything, and its holds are counted all the same",
    accounts: [
      organisation("company"),
      user("carol", { parentId: "organisation:company" }),
      token("free", { parentId: "user:carol" }),
    ],
    steps: [[hold("h", "token:free", 10n ** 15n), held]],
    after: {
      "token:free": { pending: 10n ** 15n },
      "user:carol": { pending: 10n ** 15n },
      "organisation:company": { pending: 10n ** 15n },
    },
    open: ["h"],
  },
  {
    title: "a chain of three with exactly enough in each link holds in each",
    accounts: three,
    steps: [
      [grant("g", employee.id, 100n), granted],
      [hold("h", badge.id, 100n), held],
    ],
    after: {
      [badge.id]: { pending: 100n },
      [employee.id]: { credits: 100n, pending: 100n },
      [company.id]: { pending: 100n },
    },
    open: ["h"],
  },
  {
    title: "tokens of one user share the user's room",
    accounts: [alice, token("one", { parentId: alice.id }), token("two", { parentId: alice.id })],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("a", "token:one", 70n), held],
      [hold("b", "token:two", 31n), insufficient(alice.id, 30n)],
      [hold("c", "token:two", 30n), held],
    ],
    after: {
      [alice.id]: { credits: 100n, pending: 100n },
      "token:one": { pending: 70n },
      "token:two": { pending: 30n },
    },
    open: ["a", "c"],
  },
  {
    title: "users of an organisation share its credits, each within their own budget",
    accounts: [
      organisation("company", { prepaid: true }),
      user("ann", { parentId: company.id, maxBudget: 70n }),
      user("bob", { parentId: company.id }),
      token("one", { parentId: "user:ann" }),
    ],
    steps: [
      [grant("g", company.id, 100n), granted],
      [hold("a", "token:one", 71n), insufficient("user:ann", 70n)],
      [hold("a", "token:one", 70n), held],
      [hold("b", "user:bob", 31n), insufficient(company.id, 30n)],
      [hold("b", "user:bob", 30n), held],
    ],
    after: {
      [company.id]: { credits: 100n, pending: 100n },
      "user:ann": { pending: 70n },
      "user:bob": { pending: 30n },
      "token:one": { pending: 70n },
    },
    open: ["a", "b"],
  },
  {
    title: "a hold of nothing needs no room",
    accounts: [alice],
    steps: [[hold("h", alice.id, 0n), held]],
    after: { [alice.id]: {} },
    open: ["h"],
  },
  narrow("token"),
  narrow("user"),
  narrow("organisation"),
];

const identities: LedgerCase[] = [
  {
    title: "the same hold twice is held once",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("h", alice.id, 60n), held],
      [hold("h", alice.id, 60n), exists],
    ],
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  },
  {
    title: "another amount under the same id is a conflict",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("h", alice.id, 60n), held],
      [hold("h", alice.id, 61n), conflict],
    ],
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  },
  {
    title: "another account under the same id is a conflict",
    accounts: [alice, user("bob", { prepaid: true })],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [grant("i", "user:bob", 100n), granted],
      [hold("h", alice.id, 60n), held],
      [hold("h", "user:bob", 60n), conflict],
    ],
    after: { [alice.id]: { credits: 100n, pending: 60n }, "user:bob": { credits: 100n } },
    open: ["h"],
  },
  {
    title: "a hold that has been settled is not taken again",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("h", alice.id, 60n), held],
      [settle("h", 10n), settled()],
      [hold("h", alice.id, 60n), exists],
    ],
    after: { [alice.id]: { credits: 100n, debits: 10n } },
  },
  {
    title: "a hold that has been released is not taken again",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [hold("h", alice.id, 60n), held],
      [release("h"), released],
      [hold("h", alice.id, 60n), exists],
    ],
    after: { [alice.id]: { credits: 100n } },
  },
  {
    title: "a refused hold leaves its id free",
    accounts: [alice],
    steps: [
      [hold("h", alice.id, 60n), insufficient(alice.id, 0n)],
      [grant("g", alice.id, 100n), granted],
      [hold("h", alice.id, 70n), held],
    ],
    after: { [alice.id]: { credits: 100n, pending: 70n } },
    open: ["h"],
  },
  {
    title: "nothing is held in an account that does not exist",
    accounts: [alice],
    steps: [[hold("h", "token:nobody", 1n), noAccount]],
    after: { [alice.id]: {} },
  },
];

const grants: LedgerCase[] = [
  {
    title: "grants add up",
    accounts: [alice],
    steps: [
      [grant("a", alice.id, 100n), granted],
      [grant("b", alice.id, 23n), granted],
    ],
    after: { [alice.id]: { credits: 123n } },
  },
  {
    title: "the same grant twice is posted once",
    accounts: [alice],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [grant("g", alice.id, 100n), exists],
    ],
    after: { [alice.id]: { credits: 100n } },
  },
  {
    title: "another amount or account under a grant's id is a conflict",
    accounts: [alice, user("bob", { prepaid: true })],
    steps: [
      [grant("g", alice.id, 100n), granted],
      [grant("g", alice.id, 101n), conflict],
      [grant("g", "user:bob", 100n), conflict],
    ],
    after: { [alice.id]: { credits: 100n }, "user:bob": {} },
  },
  {
    title: "nothing is granted to an account that does not exist",
    accounts: [],
    steps: [[grant("g", "user:nobody", 1n), noAccount]],
    after: {},
  },
  {
    title: "a grant to a user leaves the user's parents as they are",
    accounts: three,
    steps: [[grant("g", employee.id, 100n), granted]],
    after: { [employee.id]: { credits: 100n }, [company.id]: {}, [badge.id]: {} },
  },
];

export const holdCases: readonly LedgerCase[] = [...rooms, ...identities, ...grants];
