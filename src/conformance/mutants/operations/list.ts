import { mutateResult, type MutableJson } from '../harness/mutations.ts';
import { type MutantAgent, defineMutants } from '../harness/mutant-agent.ts';
import { operationMutant } from '../harness/operation-mutant.ts';

const list = /^ListTasks$|^GET \/tasks$/;
const paged = (
  id: string,
  breaks: string,
  what: string,
  bend: (page: MutableJson, path: string) => unknown,
): MutantAgent => ({
  id: `${breaks}:${id}`,
  violates: breaks,
  description: what,
  versions: ['1.0'],
  wire: () => mutateResult(list, (page, { path, json }) => bend(page, path + JSON.stringify(json ?? ''))),
});
const tasksOf = (page: MutableJson): MutableJson[] => page.tasks as MutableJson[];

/** Agents that break the rules of ListTasks. */
export const listMutants = defineMutants([
  operationMutant('all-contexts', 'list.finds', 'The filter by context is ignored.', (agent) => ({
    listTasks: ({ contextId: _context, ...request }, call) => agent.listTasks(request, call),
  })),
  paged('empty', 'list.finds', 'No task is ever listed.', (page) => ({ ...page, tasks: [] })),
  paged('empty-list', 'list.no-artifacts', 'Listed tasks have an empty list of artifacts.', (page) => {
    for (const task of tasksOf(page)) task.artifacts ??= [];
    return page;
  }),
  operationMutant('always', 'list.no-artifacts', 'Artifacts are always listed.', (agent) => ({
    listTasks: (request, call) => agent.listTasks({ ...request, includeArtifacts: true }, call),
  })),
  operationMutant('never', 'list.with-artifacts', 'Artifacts are never listed.', (agent) => ({
    listTasks: ({ includeArtifacts: _include, ...request }, call) => agent.listTasks(request, call),
  })),
  paged('token-for-ever', 'list.last-page', 'The last page has a token.', (page) =>
    page.nextPageToken === '' ? { ...page, nextPageToken: 'MQ' } : page,
  ),
  paged('null-token', 'list.last-page', 'The last page has null for its token.', (page) =>
    page.nextPageToken === '' ? { ...page, nextPageToken: null } : page,
  ),
  operationMutant('first-page', 'list.walk', 'Every page is the first.', (agent) => ({
    listTasks: ({ pageToken: _token, ...request }, call) => agent.listTasks(request, call),
  })),
  operationMutant('offset', 'list.walk', 'The token is how many to skip.', (agent) => ({
    async listTasks({ pageToken, pageSize = 50, ...request }, call) {
      const all = await agent.listTasks({ ...request, pageSize: 100 }, call);
      const from = Number(pageToken ?? 0) || 0;
      const next = from + pageSize;
      return {
        ...all,
        pageSize,
        tasks: all.tasks.slice(from, next),
        nextPageToken: next < all.tasks.length ? String(next) : '',
      };
    },
  })),
  paged('oldest-first', 'list.order', 'The oldest tasks come first.', (page) => ({
    ...page,
    tasks: tasksOf(page).toReversed(),
  })),
  operationMutant('by-creation', 'list.order', 'Tasks are sorted by when they were made.', (agent) => ({
    async listTasks(request, call) {
      const page = await agent.listTasks(request, call);
      return { ...page, tasks: page.tasks.toSorted((a, b) => b.id.localeCompare(a.id)) };
    },
  })),
  paged('page-total', 'list.sizes', 'totalSize is the size of the page.', (page) => ({
    ...page,
    totalSize: tasksOf(page).length,
  })),
  paged('fixed-size', 'list.sizes', 'pageSize is always 50.', (page) => ({ ...page, pageSize: 50 })),
  operationMutant('ignores-size', 'list.sizes', 'pageSize is ignored.', (agent) => ({
    listTasks: ({ pageSize: _size, ...request }, call) => agent.listTasks(request, call),
  })),
  {
    id: 'list.page-size:clamps',
    violates: 'list.page-size',
    description: 'A pageSize that is too large is cut down.',
    versions: ['1.0'],
    wire: () => ({
      request(request) {
        request.path = request.path.replace(/pageSize=(0|-1|101)\b/, 'pageSize=50');
        const json = request.json as { params?: MutableJson } | undefined;
        const size = json?.params?.pageSize;
        if (json?.params && (size === 0 || size === -1 || size === 101)) {
          json.params.pageSize = 50;
          request.body = JSON.stringify(json);
        }
      },
    }),
  },
  operationMutant('takes-token', 'list.bad-token', 'A token that is none is taken.', (agent) => ({
    listTasks: (request, call) =>
      agent.listTasks(request, call).catch(() => agent.listTasks({ ...request, pageToken: undefined }, call)),
  })),
  operationMutant('ignores-status', 'list.by-status', 'The filter by state is ignored.', (agent) => ({
    listTasks: ({ status: _status, ...request }, call) => agent.listTasks(request, call),
  })),
  operationMutant('exclusive', 'list.since', 'The moment itself is left out.', (agent) => ({
    listTasks: (request, call) =>
      agent.listTasks(
        request.statusTimestampAfter === undefined
          ? request
          : {
              ...request,
              statusTimestampAfter: new Date(Date.parse(request.statusTimestampAfter) + 1).toISOString(),
            },
        call,
      ),
  })),
  operationMutant('ignores-since', 'list.since', 'The filter by time is ignored.', (agent) => ({
    listTasks: ({ statusTimestampAfter: _since, ...request }, call) => agent.listTasks(request, call),
  })),
  operationMutant('all-history', 'list.history', 'Listed tasks have all of their history.', (agent) => ({
    listTasks: ({ historyLength: _length, ...request }, call) => agent.listTasks(request, call),
  })),
  paged('stale', 'list.current', 'Listed tasks are shown as they began.', (page) => {
    for (const task of tasksOf(page)) (task.status as MutableJson).state = 'TASK_STATE_SUBMITTED';
    return page;
  }),
]);
