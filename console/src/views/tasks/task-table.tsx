import type { Task } from '../../../../src/protocol/task.ts';
import { textOf } from '../../../../src/protocol/part.ts';
import { StateBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Spinner } from '../../components/progress.tsx';
import { formatCount, formatCountedNoun, formatDateTime } from '../../components/format-units.ts';
import { routeHref, currentRoute } from '../../session/router.ts';
import { taskFilter, taskPage, pageTokens, turnPage } from './state.ts';

/** One page of tasks. */
export function TaskTable({ openId }: { openId: string }) {
  const { page: shown, error, isLoading } = taskPage.value;
  if (error) return <ErrorNote error={error} />;
  if (!shown) return isLoading ? <Spinner label="Loading tasks" /> : null;
  if (shown.tasks.length === 0 && shown.nextPageToken === '') {
    if (shown.hiddenCount > 0)
      return (
        <EmptyState title="Only tasks of tests">
          {formatCountedNoun(shown.hiddenCount, 'task', 'tasks')} of conformance tests and load runs are
          hidden. Press Tests to show them.
        </EmptyState>
      );
    const isFiltered = taskFilter.value.state !== '' || taskFilter.value.contextId !== '';
    return (
      <EmptyState title={isFiltered ? 'No matching tasks' : 'No tasks yet'}>
        {isFiltered ? 'Change or clear the filters.' : 'Send a message to the agent to create a task.'}
      </EmptyState>
    );
  }
  return (
    <>
      <div class="tasks-scroll" role="region" aria-label="Tasks" tabIndex={0}>
        <table class="tasks-table" aria-busy={isLoading}>
          <thead>
            <tr>
              <th scope="col">Task</th>
              <th scope="col">State</th>
              <th scope="col">Changed</th>
              <th scope="col" class="tasks-wide">
                Context
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.tasks.map((task) => (
              <Row key={task.id} task={task} isOpen={task.id === openId} />
            ))}
          </tbody>
        </table>
      </div>
      <nav class="tasks-pages" aria-label="Pages of tasks">
        <span>
          Page {pageTokens.value.length}, {shown.totalSize} {shown.totalSize === 1 ? 'task' : 'tasks'} in
          total
          {shown.hiddenCount === 0 ? '' : `, ${formatCount(shown.hiddenCount)} of tests hidden`}
        </span>
        <Button small disabled={pageTokens.value.length === 1} onClick={() => turnPage(-1)}>
          Previous
        </Button>
        <Button small disabled={shown.nextPageToken === ''} onClick={() => turnPage(1)}>
          Next
        </Button>
      </nav>
    </>
  );
}

/** The subject of a task: its first message. */
function taskSubject(task: Task): string {
  const first = task.history?.find(({ role }) => role === 'user');
  return first ? textOf(first.parts).slice(0, 120) : '';
}

function Row({ task, isOpen }: { task: Task; isOpen: boolean }) {
  const details = { ...Object.fromEntries(currentRoute.value.details), task: task.id };
  return (
    <tr aria-current={isOpen ? 'true' : undefined}>
      <td>
        <a class="tasks-id" href={routeHref('tasks', details)}>
          {task.id}
        </a>
        <div class="tasks-subject">{taskSubject(task)}</div>
      </td>
      <td>
        <StateBadge state={task.status.state} />
      </td>
      <td class="tasks-time">
        {task.status.timestamp === undefined
          ? ''
          : formatDateTime(task.status.timestamp)
              .split(' ')
              .map((each) => <span key={each}>{each} </span>)}
      </td>
      <td class="tasks-wide">
        <span class="tasks-id">{task.contextId}</span>
      </td>
    </tr>
  );
}
