import type { JsonObject } from "../core/index.ts";

/** A serving process, with its workers. */
export interface Node {
  /** Its host and process. */
  name: string;
  host: string;
  pid: number;
  version: string;
  /** The port that it hands over to a next process when it gets SIGUSR2; undefined if it cannot. */
  port: number | undefined;
  startedAt: number;
  /** When it was last there. */
  seenAt: number;
  /** Hashes of the parts of its configuration that all nodes should have alike. */
  fingerprint: Readonly<Record<string, string>>;
  /** Since when it has had these; zero of a node of an earlier version. */
  fingerprintAt: number;
  /** A request that it has not performed yet. */
  asked: NodeAsk | undefined;
  /** The outcome of the last one. */
  outcome: NodeOutcome | undefined;
}

/** A request to read the configuration again. */
export interface NodeAsk {
  id: string;
  force: boolean;
  /** Compares it with the one in force, and leaves that as it is. */
  check: boolean;
}

/** The outcome of a request. */
export interface NodeAnswer {
  /** That of the request. */
  id: string;
  result: JsonObject;
}

export interface NodeOutcome extends NodeAnswer {
  /** Those before it, the latest first: who asked for them may not have seen them yet. */
  earlier: readonly NodeAnswer[];
}

/** The interface of the storage of nodes. */
export interface NodeStore {
  /** Adds the node, or replaces an earlier process of this name. */
  announce(node: Node): Promise<void>;
  /** Notes that the node is there. Resolves with its row; undefined if that was deleted. */
  beat(name: string, at: number, fingerprint: Node["fingerprint"]): Promise<Node | undefined>;
  /** The nodes that were there since then, by name. */
  seenSince(at: number): Promise<Node[]>;
  /** Resolves with whether the node has the request: one at a time waits there. */
  ask(name: string, asked: NodeAsk): Promise<boolean>;
  /** Replaces the request by its outcome, which only the node itself does. */
  answer(name: string, outcome: NodeOutcome): Promise<void>;
  leave(name: string): Promise<void>;
  deleteBefore(at: number): Promise<void>;
}
