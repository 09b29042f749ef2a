import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Clock } from '../primitives/clock.ts';
import type { EgressOptions } from '../egress/egress-options.ts';
import { type EgressPolicy, egressPolicy } from '../egress/egress-policy.ts';
import { unrefClock } from '../primitives/clock.ts';
import type { LogSink } from '../primitives/log.ts';
import { type FollowUpStore, memoryFollowUpStore } from './follow-ups/follow-up-store.ts';

/** Options of {@link bridge}. All options are optional. */
export interface BridgeOptions {
  /** Store for files of clients and agents. @defaultValue none: small files are returned inline */
  readonly artifacts?: ArtifactStore;
  /** Egress policy for file parameters with http(s) URLs. @defaultValue such URLs are rejected */
  readonly egress?: EgressOptions | EgressPolicy;
  /** Store for follow-ups. @defaultValue `memoryFollowUpStore()` */
  readonly followUps?: FollowUpStore;
  /** Lifetime of follow-up IDs, in seconds. @defaultValue 300 */
  readonly inputRequiredTtl?: number;
  /** Milliseconds to wait for a result before a call returns a follow-up ID. @defaultValue 300,000 */
  readonly waitBudget?: number;
  /** Milliseconds to wait for a cancellation. @defaultValue 5,000 */
  readonly cancelBudget?: number;
  /** Minimum milliseconds between two progress reports; 0 reports all. @defaultValue 0 */
  readonly progressInterval?: number;
  /** Milliseconds between two polls of a task if the agent does not support streaming. @defaultValue 1,000 */
  readonly pollInterval?: number;
  /** Milliseconds between two refreshes of a card; 0 disables them. @defaultValue 60,000 */
  readonly cardInterval?: number;
  /**
   * Behavior if the first fetch of a card fails: `fail` rejects, `retry` starts without the actions of the agent and
   * fetches again after `cardInterval`.
   * @defaultValue `fail`
   */
  readonly whenUnreachable?: 'fail' | 'retry';
  /** Maximum number of files per call. @defaultValue 32 */
  readonly maxFiles?: number;
  /** Maximum total size of the files of a call, in bytes. @defaultValue 100 MiB */
  readonly maxFileBytes?: number;
  /** Maximum size of a file that is returned inline if no store is configured, in bytes. @defaultValue 256 KiB */
  readonly maxInlineBytes?: number;
  /** Maximum number of files that a task may produce. @defaultValue 1,000 */
  readonly maxFilesPerTask?: number;
  /** Maximum number of concurrent calls. @defaultValue 1,000 */
  readonly maxCalls?: number;
  readonly log?: LogSink;
  readonly clock?: Clock;
  /** Creates the ids of messages and follow-ups. @defaultValue `crypto.randomUUID` */
  readonly newId?: () => string;
}

/** Options with defaults applied. */
export interface BridgeSettings extends Required<Omit<BridgeOptions, 'artifacts' | 'egress' | 'log'>> {
  readonly store: ArtifactStore | undefined;
  readonly policy: EgressPolicy | undefined;
  readonly log: LogSink | undefined;
  /** Closes resources that the bridge created itself. */
  readonly release: () => void;
}

const mebibyte = 1_024 * 1_024;

/** Applies the defaults. */
export function resolveBridgeSettings(options: BridgeOptions): BridgeSettings {
  const { artifacts, egress, log, clock = unrefClock } = options;
  const isPolicy = egress !== undefined && 'agentFor' in egress;
  const policy = egress === undefined ? undefined : isPolicy ? egress : egressPolicy(egress);
  return {
    store: artifacts,
    policy,
    log,
    clock,
    release: () => (isPolicy ? undefined : policy?.close()),
    followUps: options.followUps ?? memoryFollowUpStore({ clock }),
    inputRequiredTtl: options.inputRequiredTtl ?? 300,
    waitBudget: options.waitBudget ?? 300_000,
    cancelBudget: options.cancelBudget ?? 5_000,
    progressInterval: options.progressInterval ?? 0,
    pollInterval: options.pollInterval ?? 1_000,
    cardInterval: options.cardInterval ?? 60_000,
    whenUnreachable: options.whenUnreachable ?? 'fail',
    maxFiles: options.maxFiles ?? 32,
    maxFileBytes: options.maxFileBytes ?? 100 * mebibyte,
    maxInlineBytes: options.maxInlineBytes ?? mebibyte / 4,
    maxFilesPerTask: options.maxFilesPerTask ?? 1_000,
    maxCalls: options.maxCalls ?? 1_000,
    newId: options.newId ?? (() => crypto.randomUUID()),
  };
}
