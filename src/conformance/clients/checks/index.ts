import type { ClientCheck } from '../client-check.ts';
import { clientAuthChecks } from './auth.ts';
import { brokenStreamChecks } from './broken-streams.ts';
import { cardChoiceChecks, cardUseChecks } from './card-choice.ts';
import { cardFaultChecks } from './card-faults.ts';
import { errorChecks } from './errors.ts';
import { hostileChecks } from './hostile.ts';
import { pushChecks } from './push.ts';
import { clientSendChecks } from './send.ts';
import { clientStreamChecks } from './stream.ts';
import { taskChecks } from './tasks.ts';

/** All active checks of clients. */
export const allClientChecks: readonly ClientCheck[] = [
  ...cardChoiceChecks,
  ...cardUseChecks,
  ...cardFaultChecks,
  ...clientSendChecks,
  ...errorChecks,
  ...clientStreamChecks,
  ...brokenStreamChecks,
  ...taskChecks,
  ...pushChecks,
  ...clientAuthChecks,
  ...hostileChecks,
];
