/**
 * Where tasks are kept. Drivers that need a library live behind their own subpath.
 *
 * @module
 */
export type { Delivery, DeliveryState, Ledger, Maybe, TaskLog, Unfinished } from './task-store.ts';
export { type MemoryLedgerOptions, memoryLedger } from './memory-task-store.ts';
// For those who write a driver.
export { Follower } from './log-subscription.ts';
export { LiveLog, type LogKeeper } from './in-memory-log.ts';
