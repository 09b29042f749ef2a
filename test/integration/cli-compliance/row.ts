import type { Scene } from './scene.ts';

/** How far a requirement is met. */
export type Status = 'pass' | 'partial' | 'fail' | 'na';

/** A requirement of the command-line specification. */
export interface Row {
  readonly id: string;
  /** What it is about, in our words. */
  readonly about: string;
  readonly status: Status;
  readonly note: string;
  /** Shows that it is met. */
  readonly check?: (scene: Scene) => Promise<void>;
}

/** A requirement that is met, or partly so for the reason that is given. */
export function row(id: string, about: string, check: NonNullable<Row['check']>, partly?: string): Row {
  return { id, about, check, status: partly === undefined ? 'pass' : 'partial', note: partly ?? '' };
}

/** A requirement that is not met, or is none for this command. */
export function without(id: string, about: string, status: 'fail' | 'na', note: string): Row {
  return { id, about, status, note };
}
