/** Time, as deliveries see it. Tests bring their own. */
export interface PushClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something later, without keeping the process alive. What is returned prevents it. */
  after(milliseconds: number, run: () => void): () => void;
}
