/** A mail server that takes any message, and refuses a login with the password `wrong`. */
import type { Socket } from "bun";

export interface ReceivedMail {
  login: string | undefined;
  to: string[];
  /** Headers and text. */
  data: string;
}

interface Session extends ReceivedMail {
  isData: boolean;
  pending: string;
}

export class MailServer implements Disposable {
  readonly received: ReceivedMail[] = [];
  readonly #listener: Bun.TCPSocketListener<Session>;

  constructor() {
    this.#listener = Bun.listen<Session>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          socket.data = { login: undefined, to: [], data: "", isData: false, pending: "" };
          socket.write("220 mail.test ESMTP\r\n");
        },
        data: (socket, bytes) => this.#read(socket, bytes.toString("latin1")),
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  #read(socket: Socket<Session>, text: string): void {
    const session = socket.data;
    session.pending += text;
    for (let end = session.pending.indexOf("\r\n"); end !== -1; end = session.pending.indexOf("\r\n")) {
      const line = session.pending.slice(0, end);
      session.pending = session.pending.slice(end + 2);
      const answer = session.isData ? this.#content(session, line) : command(session, line);
      if (answer !== undefined) socket.write(`${answer}\r\n`);
    }
  }

  #content(session: Session, line: string): string | undefined {
    if (line !== ".") {
      session.data += `${line}\n`;
      return undefined;
    }
    session.isData = false;
    this.received.push({ login: session.login, to: session.to, data: session.data });
    return "250 taken";
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true);
  }
}

function command(session: Session, line: string): string {
  const [verb = "", rest = ""] = line.split(/ (.*)/);
  switch (verb.toUpperCase()) {
    case "EHLO":
      return "250-mail.test\r\n250 AUTH PLAIN";
    case "AUTH":
      session.login = Buffer.from(rest.replace("PLAIN ", ""), "base64").toString();
      return session.login.endsWith("\0wrong") ? "535 refused" : "235 welcome";
    case "RCPT":
      session.to.push(/<(.*)>/.exec(rest)?.[1] ?? "");
      return "250 fine";
    case "DATA":
      session.isData = true;
      return "354 go on";
    case "QUIT":
      return "221 bye";
    default:
      return "250 fine";
  }
}
