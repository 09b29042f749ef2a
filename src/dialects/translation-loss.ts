/** Information that a translation could not represent. */
export interface TranslationLoss {
  /** Path in the value that was read or written, such as `message.parts[0].metadata`. */
  path: string;
  /** `dropped`: removed. `guessed`: replaced by another value. `defaulted`: missing and set to a value. */
  kind: 'dropped' | 'guessed' | 'defaulted';
  /** Short explanation. */
  note: string;
}

/** List that collects losses; undefined if they are not needed. */
export type LossList = TranslationLoss[] | undefined;

/** Decoding mode: strict for requests, lenient for responses. */
export interface DecodeMode {
  readonly lenient: boolean;
  readonly losses: LossList;
  /** Generates the ids of messages in 0.1 requests, which have none. @defaultValue random UUIDs */
  readonly newMessageId?: () => string;
}

/** Mode for requests: rejects all errors with their path. */
export const strictMode: DecodeMode = { lenient: false, losses: undefined };

/** Mode for responses: records errors as losses instead of rejecting. */
export function lenientMode(losses?: TranslationLoss[]): DecodeMode {
  return { lenient: true, losses };
}
