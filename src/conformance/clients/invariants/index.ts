import type { ClientInvariant } from '../client-check.ts';
import { createMessageIdInvariants } from './message-ids.ts';
import { requestInvariants } from './requests.ts';

/** Creates all rules that are evaluated on every request of one client. */
export function createClientInvariants(): readonly ClientInvariant[] {
  return [...requestInvariants, ...createMessageIdInvariants()];
}
