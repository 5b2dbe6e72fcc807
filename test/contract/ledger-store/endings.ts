/** The ends of a hold: settled below, at and above it, released, expired, and ended after expiry. */
import {
  conflict,
  ended,
  exists,
  grant,
  granted,
  held,
  hold,
  insufficient,
  keep,
  type LedgerCase,
  minute,
  noHold,
  noon,
  organisation,
  raised,
  release,
  released,
  renew,
  renewed,
  settle,
  settled,
  settledBefore,
  sweep,
  swept,
  token,
  topUp,
  user,
} from "./world.ts";

const alice = user("alice", { prepaid: true });
const key = token("key", { parentId: alice.id });
const leased = { leaseUntil: noon + minute };
const late = noon + 2 * minute;

type Steps = LedgerCase["steps"];

/** Alice's token under a balance of 100 and an open hold of 60. */
function withHold(title: string, steps: Steps, after: bigint, rest: Partial<LedgerCase> = {}): LedgerCase {
  const opening: Steps = [
    [grant("g", alice.id, 100n), granted],
    [hold("h", key.id, 60n, leased), held],
  ];
  return {
    title,
    accounts: [alice, key],
    steps: [...opening, ...steps],
    after: { [alice.id]: { credits: 100n, debits: after }, [key.id]: { debits: after } },
    ...rest,
  };
}

const settlements: LedgerCase[] = [
  withHold("below the hold: the rest returns", [[settle("h", 25n), settled()]], 25n),
  withHold("at the hold: nothing returns", [[settle("h", 60n), settled()]], 60n),
  withHold("at zero: all returns and nothing is charged", [[settle("h", 0n), settled()]], 0n),
  withHold("above the hold with room: the rest is taken too", [[settle("h", 99n), settled()]], 99n),
  withHold("above the hold up to the last of the balance", [[settle("h", 100n), settled()]], 100n),
  withHold(
    "above the balance: what is there is taken, the rest is the shortfall",
    [[settle("h", 130n), settled(30n)]],
    100n,
    {
      shortfall: 30n,
    },
  ),
  withHold(
    "above the hold while another holds the rest: only the hold is taken",
    [
      [hold("i", key.id, 40n), held],
      [settle("h", 61n), settled(1n)],
    ],
    60n,
    {
      after: { [alice.id]: { credits: 100n, debits: 60n, pending: 40n }, [key.id]: { debits: 60n, pending: 40n } },
      shortfall: 1n,
      open: ["i"],
    },
  ),
  withHold(
    "the room that a settlement returns is there for the next hold",
    [
      [hold("i", key.id, 76n), insufficient(alice.id, 40n)],
      [settle("h", 25n), settled()],
      [hold("i", key.id, 75n), held],
    ],
    25n,
    {
      after: { [alice.id]: { credits: 100n, debits: 25n, pending: 75n }, [key.id]: { debits: 25n, pending: 75n } },
      open: ["i"],
    },
  ),
  withHold(
    "twice: charged once",
    [
      [settle("h", 25n), settled()],
      [settle("h", 25n), settledBefore()],
    ],
    25n,
  ),
  withHold(
    "twice with a shortfall: the same shortfall again",
    [
      [settle("h", 130n), settled(30n)],
      [settle("h", 130n), settledBefore(30n)],
    ],
    100n,
    { shortfall: 30n },
  ),
  withHold(
    "with two amounts: a conflict",
    [
      [settle("h", 25n), settled()],
      [settle("h", 26n), conflict],
    ],
    25n,
  ),
  withHold(
    "what was charged under a shortfall is not what the call cost: a conflict",
    [
      [settle("h", 130n), settled(30n)],
      [settle("h", 100n), conflict],
    ],
    100n,
    { shortfall: 30n },
  ),
  withHold(
    "after a release: a conflict",
    [
      [release("h"), released],
      [settle("h", 25n), conflict],
    ],
    0n,
  ),
  withHold("without a hold: no-hold", [[settle("x", 25n), noHold]], 0n, {
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  }),
  {
    title: "above the hold in a chain of three: the link with the least room decides",
    accounts: [
      organisation("company", { maxBudget: 80n }),
      user("employee", { prepaid: true, parentId: "organisation:company" }),
      token("badge", { parentId: "user:employee", maxBudget: 90n }),
    ],
    steps: [
      [grant("g", "user:employee", 100n), granted],
      [hold("h", "token:badge", 60n), held],
      [settle("h", 95n), settled(15n)],
    ],
    after: {
      "token:badge": { debits: 80n, period: 80n },
      "user:employee": { credits: 100n, debits: 80n },
      "organisation:company": { debits: 80n, period: 80n },
    },
    shortfall: 15n,
  },
  {
    title: "above the hold in a chain without limits: all is taken",
    accounts: [token("service")],
    steps: [
      [hold("h", "token:service", 60n), held],
      [settle("h", 1_000_000n), settled()],
    ],
    after: { "token:service": { debits: 1_000_000n, period: 1_000_000n } },
  },
];

const releases: LedgerCase[] = [
  withHold("all returns", [[release("h"), released]], 0n),
  withHold(
    "twice: released once",
    [
      [release("h"), released],
      [release("h"), exists],
    ],
    0n,
  ),
  withHold(
    "after a settlement: a conflict",
    [
      [settle("h", 25n), settled()],
      [release("h"), conflict],
    ],
    25n,
  ),
  withHold("without a hold: no-hold", [[release("x"), noHold]], 0n, {
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  }),
];

const expiries: LedgerCase[] = [
  withHold("a hold lives until its lease ends, that moment included", [[sweep(noon + minute), swept(0)]], 0n, {
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  }),
  withHold("without a checkpoint all returns", [[sweep(noon + minute + 1), swept(1)]], 0n),
  withHold(
    "with a checkpoint it is charged",
    [
      [renew("h", noon + minute, 35n), renewed],
      [sweep(late), swept(1)],
    ],
    35n,
  ),
  withHold(
    "a checkpoint above the hold is charged like a settlement",
    [
      [renew("h", noon + minute, 130n), renewed],
      [sweep(late), swept(1)],
    ],
    100n,
    { shortfall: 30n },
  ),
  withHold(
    "the last checkpoint counts",
    [
      [renew("h", noon + minute, 10n), renewed],
      [renew("h", noon + minute, 20n), renewed],
      [sweep(late), swept(1)],
    ],
    20n,
  ),
  withHold(
    "a renewal without a checkpoint keeps the one before",
    [
      [renew("h", noon + minute, 10n), renewed],
      [renew("h", noon + minute), renewed],
      [sweep(late), swept(1)],
    ],
    10n,
  ),
  withHold(
    "a renewed lease is not swept",
    [
      [renew("h", late + minute), renewed],
      [sweep(late), swept(0)],
    ],
    0n,
    { after: { [alice.id]: { credits: 100n, pending: 60n } }, open: ["h"] },
  ),
  withHold(
    "only holds whose lease ended are swept, each once",
    [
      [hold("i", key.id, 20n, { leaseUntil: noon + 9 * minute }), held],
      [sweep(late), swept(1)],
      [sweep(late), swept(0)],
    ],
    0n,
    { after: { [alice.id]: { credits: 100n, pending: 20n } }, open: ["i"] },
  ),
  withHold(
    "a settled hold is not swept",
    [
      [settle("h", 25n), settled()],
      [sweep(late), swept(0)],
    ],
    25n,
  ),
  withHold(
    "an expired hold is not renewed",
    [
      [sweep(late), swept(1)],
      [renew("h", late + minute, 50n), ended],
    ],
    0n,
  ),
  withHold("an unknown hold is not renewed", [[renew("x", late), ended]], 0n, {
    after: { [alice.id]: { credits: 100n, pending: 60n } },
    open: ["h"],
  }),
];

/** The end of a job's lease. */
const day = noon + 1_440 * minute;

/** Holds of jobs that stop renewing them. */
const forgottenJobs: LedgerCase[] = [
  withHold(
    "the hold is charged in full",
    [
      [keep("job", "h", day), renewed],
      [sweep(day), swept(0)],
      [sweep(day + 1), swept(1)],
    ],
    60n,
  ),
  withHold(
    "a checkpoint from before or after the hand-over changes nothing",
    [
      [renew("h", noon + minute, 35n), renewed],
      [keep("job", "h", day), renewed],
      [hold("i", key.id, 40n, leased), held],
      [keep("job", "i", day, 12n), renewed],
      [sweep(day + 1), swept(2)],
    ],
    100n,
  ),
  withHold(
    "nor does a checkpoint of zero",
    [
      [keep("job", "h", day, 0n), renewed],
      [sweep(day + 1), swept(1)],
    ],
    60n,
  ),
  withHold(
    "a top-up is charged too",
    [
      [keep("job", "h", day), renewed],
      [topUp("h", 90n), raised],
      [sweep(day + 1), swept(1)],
    ],
    90n,
  ),
  withHold(
    "the hold is charged in full although another one has taken the rest",
    [
      [keep("job", "h", day), renewed],
      [hold("i", key.id, 40n), held],
      [sweep(day + 1), swept(1)],
    ],
    60n,
    {
      after: { [alice.id]: { credits: 100n, debits: 60n, pending: 40n }, [key.id]: { debits: 60n, pending: 40n } },
      open: ["i"],
    },
  ),
  withHold(
    "a renewal without a keeper does not change the keeper",
    [
      [keep("job", "h", noon + minute), renewed],
      [renew("h", day), renewed],
      [sweep(late), swept(0)],
      [sweep(day + 1), swept(1)],
    ],
    60n,
  ),
  withHold(
    "a process that has taken it back and dies is charged nothing",
    [
      [keep("job", "h", day), renewed],
      [keep("process", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
    ],
    0n,
  ),
  withHold(
    "an expired hold can't be handed over",
    [
      [sweep(late), swept(1)],
      [keep("job", "h", day), ended],
      [sweep(day + 1), swept(0)],
    ],
    0n,
  ),
  withHold(
    "a settlement in time is charged as any other",
    [
      [keep("job", "h", day), renewed],
      [sweep(late), swept(0)],
      [settle("h", 45n, late), settled()],
      [sweep(day + 1), swept(0)],
    ],
    45n,
  ),
  withHold(
    "a late settlement below the hold returns the rest, once",
    [
      [keep("job", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
      [settle("h", 45n, late), settled()],
      [settle("h", 45n, late), settledBefore()],
      [settle("h", 46n, late), conflict],
    ],
    45n,
  ),
  withHold(
    "a late settlement above the hold takes the rest",
    [
      [keep("job", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
      [settle("h", 75n, late), settled()],
    ],
    75n,
  ),
  withHold(
    "a late release returns everything, once",
    [
      [keep("job", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
      [release("h", late), released],
      [release("h", late), exists],
      [settle("h", 60n, late), conflict],
    ],
    0n,
  ),
];

/** The process was assumed dead and ends its call nevertheless: its record counts. */
const lateEnds: LedgerCase[] = [
  withHold(
    "a settlement after expiry is charged from what is left",
    [
      [sweep(late), swept(1)],
      [settle("h", 45n, late), settled()],
    ],
    45n,
  ),
  withHold(
    "a settlement above the checkpoint that was charged takes the difference",
    [
      [renew("h", noon + minute, 35n), renewed],
      [sweep(late), swept(1)],
      [settle("h", 45n, late), settled()],
    ],
    45n,
  ),
  withHold(
    "a settlement at the checkpoint that was charged takes nothing more",
    [
      [renew("h", noon + minute, 35n), renewed],
      [sweep(late), swept(1)],
      [settle("h", 35n, late), settled()],
    ],
    35n,
  ),
  withHold(
    "a settlement below the checkpoint that was charged gives the difference back, once",
    [
      [renew("h", noon + minute, 35n), renewed],
      [sweep(late), swept(1)],
      [settle("h", 15n, late), settled()],
      [settle("h", 15n, late), settledBefore()],
    ],
    15n,
  ),
  withHold(
    "a release after expiry gives back what the checkpoint charged, once",
    [
      [renew("h", noon + minute, 35n), renewed],
      [sweep(late), swept(1)],
      [release("h", late), released],
      [release("h", late), exists],
      [settle("h", 35n, late), conflict],
    ],
    0n,
  ),
  withHold(
    "a settlement after expiry is charged once",
    [
      [sweep(late), swept(1)],
      [settle("h", 45n, late), settled()],
      [settle("h", 45n, late), settledBefore()],
      [settle("h", 46n, late), conflict],
      [release("h", late), conflict],
    ],
    45n,
  ),
  withHold(
    "a settlement after expiry that finds the room taken is a shortfall",
    [
      [sweep(late), swept(1)],
      [hold("i", key.id, 90n, { at: late }), held],
      [settle("h", 45n, late), settled(35n)],
    ],
    10n,
    {
      after: { [alice.id]: { credits: 100n, debits: 10n, pending: 90n }, [key.id]: { debits: 10n, pending: 90n } },
      shortfall: 35n,
      open: ["i"],
    },
  ),
  withHold(
    "a settlement after an expiry with a shortfall makes up for it",
    [
      [renew("h", noon + minute, 130n), renewed],
      [sweep(late), swept(1)],
      [grant("more", alice.id, 50n, late), granted],
      [settle("h", 140n, late), settled()],
    ],
    140n,
    { after: { [alice.id]: { credits: 150n, debits: 140n }, [key.id]: { debits: 140n } } },
  ),
];

const groups = {
  settle: settlements,
  release: releases,
  expiry: expiries,
  "a forgotten job": forgottenJobs,
  "late end": lateEnds,
};

export const endingCases: readonly LedgerCase[] = Object.entries(groups).flatMap(([group, rows]) =>
  rows.map((row) => ({ ...row, title: `${group}: ${row.title}` })),
);
