import type { Check } from '../check.ts';
import { getChecks } from './get.ts';

/** Everything that is tried. */
export const allChecks: readonly Check[] = [...getChecks];
