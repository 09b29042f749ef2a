import { dialectForVersion } from '../../../dialects/negotiation.ts';
import { compositeKey } from '../../../primitives/composite-key.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { ProtocolVersion } from '../../../protocol/card.ts';
import type { ReplyAddress } from '../mesh-reply.ts';
import type { MeshRegister } from '../../sharing/mesh-register.ts';
import type { MeshTask } from '../mesh-tasks.ts';

/** The part of a task that all servers know. */
type TaskRecord = Omit<MeshTask, 'id' | 'runs' | 'address'> & {
  address?: Omit<ReplyAddress, 'dialect' | 'ids'> & { version: ProtocolVersion; agent: string };
};

/** The interrupted task of a context, by its ids on the mesh and at the agent. */
type InterruptedTask = readonly [id: string, upstreamId: string];

/** Stores tasks and contexts of the mesh in a register. */
export class MeshTaskRecords {
  readonly #register: MeshRegister;

  constructor(register: MeshRegister) {
    this.#register = register;
  }

  async readTask(id: string): Promise<Omit<MeshTask, 'id' | 'runs'> | undefined> {
    const record = await this.#read<TaskRecord>(compositeKey('task', id));
    if (!record) return undefined;
    const { address, ...task } = record;
    if (!address) return task;
    const { version, agent, ...rest } = address;
    const ids = { taskId: id, contextId: task.contextId, agent };
    return { ...task, address: { ...rest, dialect: dialectForVersion(version), ids } };
  }

  async writeTask({ id, runs: _local, address, ...task }: MeshTask): Promise<void> {
    const record: TaskRecord = { ...task };
    if (address) {
      const { dialect, ids, ...rest } = address;
      record.address = { ...rest, version: dialect.version, agent: ids.agent };
    }
    await this.#register.set(compositeKey('task', id), JSON.stringify(record));
  }

  /** Returns true while another server processes a request of the task. */
  async isRunning({ request }: MeshTask): Promise<boolean> {
    return request !== undefined && ((await this.#register.get(request))?.isClaimed ?? false);
  }

  readContextId(user: string, contextId: string): Promise<string | undefined> {
    return this.#read(compositeKey('context', user, contextId));
  }

  async writeContextId({ user, contextId }: MeshTask, upstreamId: string): Promise<void> {
    await this.#register.set(compositeKey('context', user, contextId), JSON.stringify(upstreamId));
  }

  readInterrupted(user: string, contextId: string): Promise<InterruptedTask | undefined> {
    return this.#read(compositeKey('interrupted', user, contextId));
  }

  async writeInterrupted({ user, contextId, id, upstreamId = '' }: MeshTask): Promise<void> {
    await this.#register.set(
      compositeKey('interrupted', user, contextId),
      JSON.stringify([id, upstreamId] satisfies InterruptedTask),
    );
  }

  /** Forgets the interrupted task of a context, unless another one has taken its place. */
  async deleteInterrupted({ user, contextId, id, upstreamId = '' }: MeshTask): Promise<void> {
    await this.#register.delete(
      compositeKey('interrupted', user, contextId),
      JSON.stringify([id, upstreamId] satisfies InterruptedTask),
    );
  }

  /** Records that a user has canceled a task; an empty name stands for any user. */
  async writeCancel(user: string, id: string): Promise<void> {
    await this.#register.set(compositeKey('cancel', id), JSON.stringify(user));
  }

  /** Returns true once if the user of a task has canceled it. */
  async takeCancel({ user, id }: MeshTask): Promise<boolean> {
    const canceledBy = await this.#read<string>(compositeKey('cancel', id));
    if (canceledBy !== '' && canceledBy !== user) return false;
    await this.#register.delete(compositeKey('cancel', id), JSON.stringify(canceledBy));
    return true;
  }

  async #read<T>(key: string): Promise<T | undefined> {
    const entry = await this.#register.get(key);
    return entry && (parseJsonOrUndefined(entry.value) as T | undefined);
  }
}
