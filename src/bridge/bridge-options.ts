import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Clock } from '../client/abortable-sleep.ts';
import type { EgressOptions } from '../egress/egress-options.ts';
import { type EgressPolicy, egressPolicy } from '../egress/egress-policy.ts';
import { unrefClock } from '../primitives/clock.ts';
import type { LogSink } from '../primitives/log.ts';
import { type FollowUpStore, memoryFollowUpStore } from './follow-ups/follow-up-store.ts';

/** How a bridge behaves. Everything has a default. */
export interface BridgeOptions {
  /** Where files of callers are read and files of agents are kept. @defaultValue none: small files are given as bytes */
  readonly artifacts?: ArtifactStore;
  /** Which files may be fetched from the web. @defaultValue none */
  readonly egress?: EgressOptions | EgressPolicy;
  /** Where follow-ups are kept. @defaultValue `memoryFollowUps()` */
  readonly followUps?: FollowUpStore;
  /** For how many seconds a follow-up ID is good. @defaultValue 300 */
  readonly inputRequiredTtl?: number;
  /** For how many milliseconds an answer is waited for, unless the call says otherwise. @defaultValue 300,000 */
  readonly waitBudget?: number;
  /** For how many milliseconds a cancellation waits for the agent. @defaultValue 5,000 */
  readonly cancelBudget?: number;
  /** Milliseconds between two pieces of progress; 0 tells everything. @defaultValue 0 */
  readonly progressInterval?: number;
  /** Milliseconds between two looks at a task that its agent cannot stream. @defaultValue 1,000 */
  readonly pollInterval?: number;
  /** Milliseconds between two looks at the card of an agent; 0 never looks again. @defaultValue 60,000 */
  readonly cardInterval?: number;
  /**
   * What happens when the card of an agent cannot be had at first: `fail` rejects, `retry` begins without its actions
   * and looks again.
   * @defaultValue `fail`
   */
  readonly whenUnreachable?: 'fail' | 'retry';
  /** Files of one call. @defaultValue 32 */
  readonly maxFiles?: number;
  /** Bytes of all files of one call. @defaultValue 100 MiB */
  readonly maxFileBytes?: number;
  /** How large a file of an agent may be to be given as bytes where there is no store. @defaultValue 256 KiB */
  readonly maxInlineBytes?: number;
  /** Files that a task may make. @defaultValue 1,000 */
  readonly maxFilesPerTask?: number;
  /** Calls at the same time. @defaultValue 1,000 */
  readonly maxCalls?: number;
  readonly log?: LogSink;
  readonly clock?: Clock;
  /** Makes the ids of messages and follow-ups. @defaultValue `crypto.randomUUID` */
  readonly newId?: () => string;
}

/** The options with everything filled in. */
export interface BridgeSettings extends Required<Omit<BridgeOptions, 'artifacts' | 'egress' | 'log'>> {
  readonly store: ArtifactStore | undefined;
  readonly policy: EgressPolicy | undefined;
  readonly log: LogSink | undefined;
  /** Lets go of what was made for this bridge alone. */
  readonly release: () => void;
}

const mebibyte = 1_024 * 1_024;

/** Fills in the defaults. */
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
