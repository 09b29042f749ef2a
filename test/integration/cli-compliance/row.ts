import type { Scene } from './scene.ts';

/** Compliance status of a requirement. */
export type Status = 'pass' | 'partial' | 'fail' | 'na';

/** A requirement of the command-line specification. */
export interface Row {
  readonly id: string;
  readonly description: string;
  readonly status: Status;
  readonly note: string;
  /** Tests the requirement. */
  readonly check?: (scene: Scene) => Promise<void>;
}

/** Declares a requirement that is met, or partially met if a limitation is given. */
export function row(
  id: string,
  description: string,
  check: NonNullable<Row['check']>,
  limitation?: string,
): Row {
  const status = limitation === undefined ? 'pass' : 'partial';
  return { id, description, check, status, note: limitation ?? '' };
}
