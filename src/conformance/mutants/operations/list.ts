import type { JsonObject } from '../../../primitives/json.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import type { ListTasksRequest } from '../../../protocol/requests.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { mutateResult } from '../harness/mutations.ts';
import { in1_0 } from '../harness/operation-mutants.ts';

const list = /^ListTasks$|^GET \/tasks$/;
/** Mutates the pages that ListTasks returns. */
const pageMutant = (id: string, description: string, mutate: (page: JsonObject) => unknown): MutantAgent =>
  mutant(id, description, { wire: () => mutateResult(list, mutate) });
const ignoreParameter =
  (name: keyof ListTasksRequest) =>
  (agent: Agent): AgentInterceptor => ({
    listTasks: ({ [name]: _ignored, ...request }, call) => agent.listTasks(request, call),
  });
const tasksOf = (page: JsonObject): JsonObject[] => page.tasks as JsonObject[];

/** Mutants of ListTasks. */
export const listMutants: readonly MutantAgent[] = [
  in1_0('list.finds:all-contexts', 'The filter by context is ignored.', ignoreParameter('contextId')),
  pageMutant('list.finds:empty', 'No task is ever listed.', (page) => ({ ...page, tasks: [] })),
  pageMutant('list.no-artifacts:empty-list', 'Listed tasks have an empty array of artifacts.', (page) => {
    for (const task of tasksOf(page)) task.artifacts ??= [];
    return page;
  }),
  in1_0('list.no-artifacts:always', 'Artifacts are always listed.', (agent) => ({
    listTasks: (request, call) => agent.listTasks({ ...request, includeArtifacts: true }, call),
  })),
  in1_0('list.with-artifacts:never', 'Artifacts are never listed.', ignoreParameter('includeArtifacts')),
  pageMutant('list.last-page:token-for-ever', 'The last page has a nextPageToken.', (page) =>
    page.nextPageToken === '' ? { ...page, nextPageToken: 'MQ' } : page,
  ),
  pageMutant('list.last-page:null-token', 'The nextPageToken of the last page is null.', (page) =>
    page.nextPageToken === '' ? { ...page, nextPageToken: null } : page,
  ),
  in1_0('list.walk:first-page', 'Every page is the first page.', ignoreParameter('pageToken')),
  in1_0('list.walk:offset', 'The page token is an offset.', (agent) => ({
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
  pageMutant('list.order:oldest-first', 'The oldest tasks come first.', (page) => ({
    ...page,
    tasks: tasksOf(page).toReversed(),
  })),
  in1_0('list.order:by-creation', 'Tasks are not sorted by their last update.', (agent) => ({
    async listTasks(request, call) {
      const page = await agent.listTasks(request, call);
      return { ...page, tasks: page.tasks.toSorted((a, b) => b.id.localeCompare(a.id)) };
    },
  })),
  pageMutant('list.sizes:page-total', 'totalSize is the size of the page.', (page) => ({
    ...page,
    totalSize: tasksOf(page).length,
  })),
  pageMutant('list.sizes:fixed-size', 'pageSize is always 50.', (page) => ({ ...page, pageSize: 50 })),
  in1_0('list.sizes:ignores-size', 'pageSize is ignored.', ignoreParameter('pageSize')),
  mutant('list.page-size:clamps', 'An invalid pageSize is replaced by 50.', {
    wire: () => ({
      request(request) {
        request.path = request.path.replace(/pageSize=(0|-1|101)\b/, 'pageSize=50');
        const json = request.json as { params?: JsonObject } | undefined;
        const size = json?.params?.pageSize;
        if (json?.params && (size === 0 || size === -1 || size === 101)) {
          json.params.pageSize = 50;
          request.body = JSON.stringify(json);
        }
      },
    }),
  }),
  in1_0('list.bad-token:takes-token', 'An invalid page token is accepted.', (agent) => ({
    listTasks: (request, call) =>
      agent.listTasks(request, call).catch(() => agent.listTasks({ ...request, pageToken: undefined }, call)),
  })),
  in1_0('list.by-status:ignores-status', 'The filter by state is ignored.', ignoreParameter('status')),
  in1_0('list.since-inclusive:exclusive', 'statusTimestampAfter excludes its own time.', (agent) => ({
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
  in1_0(
    'list.since:ignores-since',
    'statusTimestampAfter is ignored.',
    ignoreParameter('statusTimestampAfter'),
  ),
  in1_0(
    'list.history:all-history',
    'Listed tasks have their whole history.',
    ignoreParameter('historyLength'),
  ),
  pageMutant('list.current:stale', 'Listed tasks have their first state.', (page) => {
    for (const task of tasksOf(page)) (task.status as JsonObject).state = 'TASK_STATE_SUBMITTED';
    return page;
  }),
];
