/**
 * Task stores. Drivers that need a library have their own subpath.
 *
 * @module
 */
export type {
  PushDelivery,
  PushDeliveryState,
  TaskStore,
  TaskLog,
  TaskStoreUsage,
  UnfinishedTask,
} from './task-store.ts';
export type { ReplicaEvent } from '../metrics/replica-metrics.ts';
export type { StoreReplica, TaskHolder } from './store-replica.ts';
export type { MaybePromise } from '../primitives/maybe-promise.ts';
export { type MemoryTaskStoreOptions, memoryTaskStore } from './memory-task-store.ts';
// For implementers of drivers.
export { LogSubscription } from './log-subscription.ts';
export { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';
