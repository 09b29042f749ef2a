/**
 * Where tasks are kept. Drivers that need a library live behind their own subpath.
 *
 * @module
 */
export type { Delivery, DeliveryState, Ledger, Maybe, TaskLog, Unfinished } from './ledger.ts';
export { type MemoryLedgerOptions, memoryLedger } from './memory.ts';
// For those who write a driver.
export { Follower } from './follower.ts';
export { LiveLog, type LogKeeper } from './live-log.ts';
