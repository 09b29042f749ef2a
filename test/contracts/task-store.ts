import { afterEach, beforeEach, describe } from 'vitest';
import type { TaskStore } from '../../src/store/task-store.ts';
import { describeCopies } from './task-store/copies.ts';
import { describeDeliveries } from './task-store/deliveries.ts';
import { describeSubscribing } from './task-store/subscribing.ts';
import { describeListing } from './task-store/listing.ts';
import { describeOwners } from './task-store/owners.ts';
import { describePaging } from './task-store/paging.ts';
import { describeGenerations } from './task-store/generations.ts';
import { describeExpiry } from './task-store/expiry.ts';
import { describeAppending } from './task-store/appending.ts';

/** Options of a task store under contract. */
export interface ContractOptions {
  /** Clock of the test. */
  now: () => number;
}

/** A task store under contract and its clock. */
export interface ContractFixture {
  readonly taskStore: TaskStore;
  now: number;
}

/** Declares the contract tests of a task store driver. */
export function describeTaskStore(
  name: string,
  open: (options: ContractOptions) => Promise<TaskStore>,
  isSkipped = false,
): void {
  describe.skipIf(isSkipped)(`TaskStore in ${name}`, () => {
    let taskStore: TaskStore | undefined;
    const fixture: ContractFixture = {
      get taskStore() {
        if (!taskStore) throw new Error('the task store is not open');
        return taskStore;
      },
      now: 0,
    };
    beforeEach(async () => {
      fixture.now = Date.parse('2026-06-01T10:00:00.000Z');
      taskStore = await open({ now: () => fixture.now });
    });
    afterEach(async () => {
      await taskStore?.[Symbol.asyncDispose]();
      taskStore = undefined;
    });
    describeAppending(fixture);
    describeSubscribing(fixture);
    describeListing(fixture);
    describePaging(fixture);
    describeOwners(fixture);
    describeExpiry(fixture);
    describeDeliveries(fixture);
    describeCopies(fixture);
    describeGenerations(fixture);
  });
}
