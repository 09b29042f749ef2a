/** Something a translation could not carry over as it was. */
export interface TranslationLoss {
  /** Where, in the words of what was read or written, such as `message.parts[0].metadata`. */
  path: string;
  /** `dropped`: it is gone. `guessed`: another value stands for it. `defaulted`: it was missing and got a value. */
  kind: 'dropped' | 'guessed' | 'defaulted';
  /** In a few words, what and why. */
  note: string;
}

/** A list that collects losses, or undefined where nobody wants to know. */
export type LossList = TranslationLoss[] | undefined;

/** How to read: what a peer asks of us is checked strictly, what it answers is taken as well as it can be. */
export interface DecodeMode {
  readonly lenient: boolean;
  readonly losses: LossList;
  /** The id of the request that is read. 0.1 tells by it the same words said again from a message sent again. */
  readonly requestId?: string | number | null;
}

/** Reads a request: everything wrong is the caller's fault and says where. */
export const strictMode: DecodeMode = { lenient: false, losses: undefined };

/** Reads a request of a version whose messages have no ids. */
export function strictModeFor(requestId: string | number | null): DecodeMode {
  return { lenient: false, losses: undefined, requestId };
}

/** Reads an answer: what cannot be understood is noted, not refused. */
export function lenientMode(losses?: TranslationLoss[]): DecodeMode {
  return { lenient: true, losses };
}
