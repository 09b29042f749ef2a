import { dialectForVersion } from '../../dialects/negotiation.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { Task } from '../../protocol/task.ts';
import type { MeshRegister } from '../sharing/mesh-register.ts';
import { RemoteTask } from './remote-task.ts';

/** The part of a task that all clients of an agent know. */
interface TaskRecord {
  readonly wireId: string;
  readonly task: Task;
  readonly version: ProtocolVersion;
  /** True between a request and its response. */
  readonly isOpen: boolean;
}

/** A task that another client may have changed. */
export interface RecordedTask {
  readonly remote: RemoteTask;
  /** True while another client waits for a response. */
  readonly isOpenElsewhere: boolean;
}

/** Stores the tasks of an agent on the mesh for all clients that share a register. */
export class RemoteTaskRecords {
  readonly #register: MeshRegister;
  readonly #maxBufferedEvents: number;

  constructor(register: MeshRegister, maxBufferedEvents: number) {
    this.#register = register;
    this.#maxBufferedEvents = maxBufferedEvents;
  }

  async read(owner: string, taskId: string): Promise<RecordedTask | undefined> {
    const entry = await this.#register.get(keyOf(owner, taskId));
    const record = entry && (parseJsonOrUndefined(entry.value) as TaskRecord | undefined);
    if (!record) return undefined;
    const { wireId, task, version, isOpen } = record;
    const ids = { wireId, taskId, contextId: task.contextId, owner };
    const remote = new RemoteTask(task, ids, {
      dialect: dialectForVersion(version),
      maxBufferedEvents: this.#maxBufferedEvents,
    });
    return { remote, isOpenElsewhere: isOpen };
  }

  async write({ owner, taskId, wireId, task, dialect, isOpen }: RemoteTask): Promise<void> {
    const record: TaskRecord = { wireId, task, version: dialect.version, isOpen };
    await this.#register.set(keyOf(owner, taskId), JSON.stringify(record));
  }
}

function keyOf(owner: string, taskId: string): string {
  return compositeKey('remote', owner, taskId);
}
