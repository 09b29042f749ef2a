import { A2AError } from '../protocol/errors.ts';
import type { Passage } from './passage.ts';

/** Writes a scenario file that says again what callers said, and expects what came. */
export function scenarioOf(_passages: readonly Passage[]): string {
  throw new A2AError('UNSUPPORTED_OPERATION', 'Scenarios cannot be written yet');
}
