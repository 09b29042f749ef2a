import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { Outage } from '../../protocol/outage.ts';
import type { MeshRegister } from '../../mesh/sharing/mesh-register.ts';
import type { QuotaStore } from '../policy/quotas/quota-store.ts';
import type { TaskIdAliasStore } from '../../client/task-id-aliases.ts';

/** A task of an upstream, by the ids of the upstream. */
export interface OwnedTask {
  readonly taskId: string;
  /** Empty if the upstream did not name one. */
  readonly contextId: string;
}

/**
 * Records which owner a task or context of an upstream belongs to. The first owner keeps it. Several gateways may share
 * a register; `agent` is the name of the upstream in their configuration.
 */
export interface OwnershipRegister {
  /** Returns the owner of a task; undefined if the task is unknown. */
  taskOwner(agent: string, taskId: string): MaybePromise<string | undefined>;
  /** Returns the owner of a context; undefined if the context is unknown. */
  contextOwner(agent: string, contextId: string): MaybePromise<string | undefined>;
  /** Records a task and its context, unless they have an owner. @returns the owner of the task */
  claimTask(agent: string, owner: string, task: OwnedTask): MaybePromise<string>;
  /** Records a context, unless it has an owner. */
  claimContext(agent: string, owner: string, contextId: string): MaybePromise<void>;
  /** Counts the tasks of an owner, in all contexts or in one. */
  countTasks(agent: string, owner: string, contextId?: string): MaybePromise<number>;
  /** Returns the store of the task ids that clients of an upstream chose. */
  aliases(agent: string): TaskIdAliasStore;
  /**
   * Returns the register in which all gateways remember the tasks and requests of an agent on a mesh. Undefined if this
   * register is not shared.
   */
  meshRegister?(agent: string): MeshRegister;
  /** Returns the counters of quotas. Undefined if the register does not keep them. */
  quotas?(): QuotaStore;
  /** Returns the current outage, if the register cannot be used now. Undefined if that cannot happen. */
  outage?(): Outage | undefined;
  close?(): MaybePromise<void>;
}
