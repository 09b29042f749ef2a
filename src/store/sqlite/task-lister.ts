import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { LogCache } from '../durable/log-cache.ts';
import { PageTokens } from '../page-tokens.ts';
import { checkPageSize, parseStatusAfter, toListEntry } from '../paging.ts';
import type { OwnerTable } from './owner-table.ts';
import type { TaskReader } from './task-reader.ts';

/** Lists the tasks of an owner page by page. */
export class TaskLister {
  readonly #reader: TaskReader;
  readonly #owners: OwnerTable;
  readonly #cache: LogCache;
  readonly #pageTokens: PageTokens;

  constructor(reader: TaskReader, owners: OwnerTable, cache: LogCache, pageTokenKey: string) {
    this.#reader = reader;
    this.#owners = owners;
    this.#cache = cache;
    this.#pageTokens = new PageTokens(pageTokenKey);
  }

  list(owner: string, request: ListTasksRequest): TaskPage {
    const pageSize = checkPageSize(request);
    const before = this.#pageTokens.read(owner, request.pageToken);
    const since = parseStatusAfter(request);
    const ownerRow = this.#owners.find(owner);
    if (ownerRow === undefined) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    const floor = this.#reader.floor(ownerRow, since);
    const found = this.#reader.page(ownerRow, request, floor, before, pageSize + 1, (row, sequence) => {
      const log = this.#cache.getByRow(row);
      return log?.visible === sequence ? log.task() : undefined;
    });
    const shown = found.slice(0, pageSize);
    return {
      tasks: shown.flatMap(({ task }) => (task ? [toListEntry(task, request)] : [])),
      nextPageToken: found.length > pageSize ? this.#pageTokens.write(owner, shown.at(-1)?.touched ?? 0) : '',
      pageSize,
      totalSize: this.#reader.count(ownerRow, request, floor),
    };
  }
}
