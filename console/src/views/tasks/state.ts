import { computed, signal } from '@preact/signals';
import type { ChatEvent, PushEntry, TaskListPage } from '../../../../src/console/console-api.ts';
import { isTerminal, type Task } from '../../../../src/protocol/task.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { startTurn, applyEvents, type ChatTurn } from '../../components/task/chat-turn.ts';
import { selectedAgent } from '../../session/agents.ts';
import { requestJson, streamJson } from '../../session/api-client.ts';
import { FrameBatcher } from '../../session/frame-batcher.ts';
import { type RouteParams, navigate, currentRoute } from '../../session/router.ts';

/** Filters and selection, stored in the page URL. */
export interface TaskFilter {
  readonly state: string;
  readonly contextId: string;
  /** Id of the open task. */
  readonly taskId: string;
  readonly isPushes: boolean;
  /** Shows the tasks of conformance runs and load runs too. */
  readonly isWithTests: boolean;
}

/** Reads the filters from the page URL. */
export const taskFilter = computed<TaskFilter>(() => {
  const { details } = currentRoute.value;
  return {
    state: details.get('state') ?? '',
    contextId: details.get('context') ?? '',
    taskId: details.get('task') ?? '',
    isPushes: details.get('show') === 'pushes',
    isWithTests: details.get('tests') === 'show',
  };
});

/** Changes filters in the page URL. */
export function updateFilter(changes: RouteParams): void {
  const now: Record<string, string | undefined> = Object.fromEntries(currentRoute.peek().details);
  for (const [name, value] of Object.entries({ ...now, ...changes })) now[name] = value || undefined;
  navigate('tasks', now);
}

/** Loading state of a page of tasks. */
export interface TaskPageState {
  readonly page?: TaskListPage;
  readonly error?: DisplayError;
  readonly isLoading: boolean;
}

/** The current page. */
export const taskPage = signal<TaskPageState>({ isLoading: false });

/** Page tokens up to the current page; the first page has none. */
export const pageTokens = signal<readonly string[]>(['']);

/** Query of a variant that can list tasks: only 1.0 can. */
function variantQuery(): string {
  const variants = selectedAgent.peek()?.variants ?? [];
  const variant = variants.find(({ version }) => version === '1.0');
  return variant ? `${variant.version}/${variant.transport}` : '';
}

let requestNumber = 0;

/** Loads the page of the current filters and page token. */
async function loadPage(): Promise<void> {
  const agent = selectedAgent.peek();
  if (!agent) return;
  const turn = ++requestNumber;
  const { state, contextId, isWithTests } = taskFilter.peek();
  const parameters = {
    state,
    contextId,
    pageSize: '25',
    pageToken: pageTokens.peek().at(-1) ?? '',
    variant: variantQuery(),
    tests: isWithTests ? '' : 'hide',
  };
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  taskPage.value = { ...taskPage.peek(), isLoading: true };
  let next: TaskPageState;
  try {
    const path = `agents/${encodeURIComponent(agent.id)}/tasks?${query}`;
    next = { page: await requestJson<TaskListPage>(path), isLoading: false };
  } catch (error) {
    next = { error: toDisplayError(error), isLoading: false };
  }
  // Responses to outdated requests are ignored.
  if (turn === requestNumber) taskPage.value = next;
}

/** Reloads the first page. */
export function reloadFirstPage(): void {
  pageTokens.value = [''];
  taskPage.value = { isLoading: true };
  void loadPage();
}

/** Loads the next or previous page. */
export function turnPage(by: 1 | -1): void {
  const { page, isLoading } = taskPage.peek();
  // The token of the page after the next one is not known yet.
  if (by === 1 && isLoading) return;
  const token = page?.nextPageToken ?? '';
  pageTokens.value = by === 1 ? [...pageTokens.peek(), token] : pageTokens.peek().slice(0, -1);
  void loadPage();
}

/** Loading state of the open task. */
export interface TaskDetail {
  readonly agentId: string;
  readonly taskId: string;
  /** Computes the displayed task from events. */
  readonly turn: ChatTurn;
  readonly error?: DisplayError;
  readonly isLive: boolean;
}

/** The open task. */
export const taskDetail = signal<TaskDetail | undefined>(undefined);

let live: AbortController | undefined;

const pathOf = (agentId: string, taskId: string, more = ''): string => {
  const variant = variantQuery();
  const query = variant === '' ? '' : `?variant=${encodeURIComponent(variant)}`;
  return `agents/${encodeURIComponent(agentId)}/tasks/${encodeURIComponent(taskId)}${more}${query}`;
};

/** Updates the open task, unless another one was opened in the meantime. */
function updateDetail(taskId: string, change: (before: TaskDetail) => TaskDetail): void {
  const before = taskDetail.peek();
  if (before?.taskId === taskId) taskDetail.value = change(before);
}

function take(taskId: string, events: readonly ChatEvent[]): void {
  updateDetail(taskId, (before) => ({ ...before, turn: applyEvents(before.turn, events) }));
}

export async function openTask(agentId: string, taskId: string): Promise<void> {
  stopFollowing();
  taskDetail.value = { agentId, taskId, turn: startTurn(taskId, [], 0), isLive: false };
  try {
    const task = await requestJson<Task>(pathOf(agentId, taskId));
    take(taskId, [{ kind: 'event', event: { kind: 'task', task }, findings: [] }]);
  } catch (error) {
    updateDetail(taskId, (before) => ({ ...before, error: toDisplayError(error) }));
  }
}

/** Subscribes to the open task. */
export async function followTask(): Promise<void> {
  const now = taskDetail.peek();
  if (!now) return;
  stopFollowing();
  const abort = new AbortController();
  live = abort;
  taskDetail.value = { ...now, isLive: true };
  const { taskId } = now;
  const batcher = new FrameBatcher<ChatEvent>((events) => take(taskId, events));
  try {
    const events = streamJson<ChatEvent>(pathOf(now.agentId, taskId, '/events'), { signal: abort.signal });
    for await (const event of events) {
      if (event.kind === 'error') updateDetail(taskId, (before) => ({ ...before, error: event }));
      else batcher.add(event);
    }
  } catch (error) {
    if (!abort.signal.aborted)
      updateDetail(taskId, (before) => ({ ...before, error: toDisplayError(error) }));
  } finally {
    batcher.flush();
    updateDetail(taskId, (before) => (live === abort ? { ...before, isLive: false } : before));
    void loadPage();
  }
}

/** Unsubscribes; the task continues. */
export function stopFollowing(): void {
  live?.abort();
  live = undefined;
  const now = taskDetail.peek();
  if (now?.isLive) taskDetail.value = { ...now, isLive: false };
}

/** Cancels the open task. */
export async function cancelTask(): Promise<void> {
  const now = taskDetail.peek();
  if (!now) return;
  try {
    const task = await requestJson<Task>(pathOf(now.agentId, now.taskId, '/cancel'), { method: 'POST' });
    take(now.taskId, [{ kind: 'event', event: { kind: 'task', task }, findings: [] }]);
    void loadPage();
  } catch (error) {
    updateDetail(now.taskId, (before) => ({ ...before, error: toDisplayError(error) }));
  }
}

/** Returns true if the open task is not in a terminal state. */
export const isTaskActive = computed(() => {
  const task = taskDetail.value?.turn.task;
  return task !== undefined && !isTerminal(task.status.state);
});

/** Webhooks with undelivered notifications. */
export const pushDeliveries = signal<readonly PushEntry[] | undefined>(undefined);
/** Error of loading or retrying deliveries. */
export const pushError = signal<DisplayError | undefined>(undefined);
/** Result of the last retry, for screen readers. */
export const pushAnnouncement = signal('');

/** Loads the deliveries. */
export async function loadPushes(): Promise<void> {
  try {
    pushDeliveries.value = await requestJson<PushEntry[]>('push-deliveries');
    pushError.value = undefined;
  } catch (error) {
    pushError.value = toDisplayError(error);
  }
}

/** Retries a delivery. */
export async function retryPush({ taskId, configId }: PushEntry): Promise<void> {
  try {
    const { retried } = await requestJson<{ retried: number }>('push-deliveries/retry', {
      method: 'POST',
      body: { taskId, configId },
    });
    pushAnnouncement.value = retried === 0 ? 'No delivery to retry.' : 'Delivery is being retried.';
    await loadPushes();
  } catch (error) {
    pushError.value = toDisplayError(error);
  }
}
