import type { PushConfig } from '../../protocol/push.ts';
import { toColumn } from './column-text.ts';
import type { Database, Statement } from './database.ts';

const ofTask = 'task = (select key from tasks where owner = ? and id = ?)';

/** The push configurations of tasks, in the order in which they were put. */
export class PushConfigs {
  readonly #put: Statement;
  readonly #of: Statement;
  readonly #delete: Statement;

  constructor(database: Database) {
    this.#put = database.prepare(
      `insert or replace into push_configs (task, id, body)
       select key, ?, ? from tasks where owner = ? and id = ?`,
    );
    this.#of = database.prepare(`select body from push_configs where ${ofTask} order by position`);
    this.#delete = database.prepare(`delete from push_configs where ${ofTask} and id = ?`);
  }

  /** @returns false when there is no such task. */
  put(owner: number, config: PushConfig): boolean {
    return this.#put.run([toColumn(config.id), JSON.stringify(config), owner, toColumn(config.taskId)]) > 0;
  }

  of(owner: number, taskId: string): PushConfig[] {
    return this.#of.all([owner, toColumn(taskId)]).map(({ body }) => JSON.parse(String(body)) as PushConfig);
  }

  delete(owner: number, taskId: string, id: string): void {
    this.#delete.run([owner, toColumn(taskId), toColumn(id)]);
  }
}
