import { afterEach, beforeEach, describe } from 'vitest';
import type { TaskStore } from '../../src/store/task-store.ts';
import { describeDeliveries } from './task-store/deliveries.ts';
import { describeFollowing } from './task-store/subscribing.ts';
import { describeListing } from './task-store/listing.ts';
import { describeOwners } from './task-store/owners.ts';
import { describePaging } from './task-store/paging.ts';
import { describeUpkeep } from './task-store/expiry.ts';
import { describeWriting } from './task-store/appending.ts';

/** What a ledger under contract is opened with. */
export interface ContractOptions {
  /** The clock of the test. */
  now: () => number;
}

/** A ledger under contract, and the clock it reads. */
export interface Bench {
  readonly ledger: TaskStore;
  now: number;
}

/** Describes what every driver of the ledger does. */
export function describeLedger(name: string, open: (options: ContractOptions) => Promise<TaskStore>): void {
  describe(`the ledger in ${name}`, () => {
    let ledger: TaskStore | undefined;
    const bench: Bench = {
      get ledger() {
        if (!ledger) throw new Error('the ledger is not open');
        return ledger;
      },
      now: 0,
    };
    beforeEach(async () => {
      bench.now = Date.parse('2026-06-01T10:00:00.000Z');
      ledger = await open({ now: () => bench.now });
    });
    afterEach(async () => {
      await ledger?.[Symbol.asyncDispose]();
      ledger = undefined;
    });
    describeWriting(bench);
    describeFollowing(bench);
    describeListing(bench);
    describePaging(bench);
    describeOwners(bench);
    describeUpkeep(bench);
    describeDeliveries(bench);
  });
}
