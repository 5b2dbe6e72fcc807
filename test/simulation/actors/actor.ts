/** Something that a seed runs: a call, a job, a session. */
export interface Actor {
  readonly id: string;
  /** Never rejects: what goes wrong is a finding. Resolves when it has ended. */
  run(): Promise<void>;
  /** The client leaves now. */
  hangUp(): void;
  /** The client does not read for a while. */
  pauseClient(): void;
  /** The upstream breaks off. */
  breakOff(): void;
  /** The gateway stops: what runs must end. */
  drain(): void;
}
