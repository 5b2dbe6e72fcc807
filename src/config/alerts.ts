/** The part of the configuration for alerts: their receivers, and which are sent. */
import { z } from "zod";
import { fromText } from "./values/from-text.ts";
import { duration as time } from "./values/units.ts";

const duration = fromText(time);

export const alertRules = [
  "budget",
  "balance",
  "circuit",
  "key_refused",
  "error_rate",
  "unpriced",
  "stale_prices",
  "overdue",
  "journal",
  "shortfall",
  "nodes_differ",
  "audit_drift",
] as const;

export type AlertRule = (typeof alertRules)[number];

/** Receivers such as Slack have their secret in the path, or in the query. */
const channelUrl = z
  .url({ protocol: /^https?$/, error: "an http(s) URL" })
  .refine((text) => new URL(text).username === "" && new URL(text).password === "", "an URL without user and password");

const signingSecret = z
  .string()
  .regex(
    /^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/,
    "whsec_ and at least 24 bytes in base64, as of openssl rand -base64 32",
  );

const address = z.email("an e-mail address");

const channel = z.discriminatedUnion("kind", [
  z
    .strictObject({
      kind: z.literal("webhook"),
      url: channelUrl,
      secret: signingSecret.describe("Signs the messages, as in standardwebhooks.com."),
    })
    .describe("JSON, signed by Standard Webhooks."),
  z.strictObject({ kind: z.literal("slack"), url: channelUrl.describe("That of an incoming webhook.") }),
  z.strictObject({
    kind: z.literal("email"),
    url: z
      .url({ protocol: /^smtps?$/, error: "an smtp: or smtps: URL" })
      .describe("The mail server: smtps://user:password@host:465, or smtp:// for STARTTLS if the server has it."),
    to: z.array(address).min(1).max(50),
    from: address.optional().describe("The sender. Unset: the first address of to."),
  }),
]);

const rule = z.strictObject({
  off: fromText(z.boolean()).prefault(false),
  after: duration
    .optional()
    .describe(
      "How long the condition must last until the alert opens, and be gone until it closes. Unset: by the rule.",
    ),
  channels: z.array(z.string()).optional().describe("Names of channels. Unset: all."),
});

export const alerts = z
  .strictObject({
    channels: z
      .record(z.string().regex(/^[\w.-]{1,64}$/, "a name of letters, digits, '_', '-' and '.'"), channel)
      .prefault({}),
    rules: z
      .strictObject(
        Object.fromEntries(alertRules.map((name) => [name, rule.optional()])) as Record<
          AlertRule,
          z.ZodOptional<typeof rule>
        >,
      )
      .prefault({}),
    every: duration.prefault("15s").describe("How often the rules are checked."),
  })
  .describe("Notices to the operator, once when something begins and once when it is over. Unset: none.");

export type AlertsConfig = z.output<typeof alerts>;
export type AlertChannel = z.output<typeof channel>;
