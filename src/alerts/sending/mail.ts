import type { AlertChannel } from "../../config/index.ts";
import type { AlertMessage } from "./message.ts";

type MailChannel = Extract<AlertChannel, { kind: "email" }>;

/** Sends the message by the channel's server. */
export async function sendMail(
  { url, to, from }: MailChannel,
  { id, text, body }: AlertMessage,
  msMax: number,
): Promise<void> {
  // Loaded by the first message: most gateways send none.
  const { createTransport } = await import("nodemailer");
  const { hostname, port, username, password, protocol } = new URL(url);
  const isSecure = protocol === "smtps:";
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: msMax,
    greetingTimeout: msMax,
    socketTimeout: msMax,
  });
  try {
    await transport.sendMail({
      from: from ?? to[0],
      to,
      subject: `Tollgate. ${text}`,
      text: `${text}\n\n${body}\n`,
      // The same in each attempt, so that a repeated one is recognised.
      messageId: `<${id}@tollgate>`,
    });
  } finally {
    transport.close();
  }
}
