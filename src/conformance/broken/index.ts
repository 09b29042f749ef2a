import type { BrokenAgent } from './broken-agent.ts';
import { brokenGet } from './get.ts';
import { brokenModel } from './model.ts';

/** Every agent that is wrong in one thing. */
export const allBroken: readonly BrokenAgent[] = [...brokenGet, ...brokenModel];
