import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import { PageTokens } from '../page-tokens.ts';
import { checkPageSize, parseStatusAfter, toListEntry } from '../paging.ts';
import type { PostgresOwnerTable } from './postgres-owner-table.ts';
import type { PostgresTaskReader } from './postgres-task-reader.ts';

/** Lists of tasks with page tokens. */
export class PostgresTaskPages {
  readonly #owners: PostgresOwnerTable;
  readonly #reader: PostgresTaskReader;
  readonly #tokens: PageTokens;

  constructor(owners: PostgresOwnerTable, reader: PostgresTaskReader, pageTokenKey: string) {
    this.#owners = owners;
    this.#reader = reader;
    this.#tokens = new PageTokens(pageTokenKey);
  }

  async list(owner: string, request: ListTasksRequest): Promise<TaskPage> {
    const pageSize = checkPageSize(request);
    const before = this.#tokens.read(owner, request.pageToken);
    const since = parseStatusAfter(request);
    const ownerRow = await this.#owners.find(owner);
    if (ownerRow === undefined) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    const { tasks, totalSize } = await this.#reader.page(ownerRow, request, since, before, pageSize + 1);
    const shown = tasks.slice(0, pageSize);
    const last = shown.at(-1)?.touched ?? 0;
    return {
      tasks: shown.map(({ task }) => toListEntry(task, request)),
      nextPageToken: tasks.length > pageSize ? this.#tokens.write(owner, last) : '',
      pageSize,
      totalSize,
    };
  }
}
