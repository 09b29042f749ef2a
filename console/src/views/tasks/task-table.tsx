import type { Task } from '../../../../src/protocol/task.ts';
import { textOf } from '../../../../src/protocol/part.ts';
import { StateBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Spinner } from '../../components/progress.tsx';
import { dayTime } from '../../components/format-units.ts';
import { hrefOf, place } from '../../session/router.ts';
import { filter, page, tokens, turnPage } from './state.ts';

/** One page of tasks. */
export function TaskTable({ openId }: { openId: string }) {
  const { page: shown, trouble, isLoading } = page.value;
  if (trouble) return <ErrorNote trouble={trouble} />;
  if (!shown) return isLoading ? <Spinner label="Asking for tasks" /> : null;
  if (shown.tasks.length === 0) {
    const isFiltered = filter.value.state !== '' || filter.value.contextId !== '';
    return (
      <EmptyState title={isFiltered ? 'No task is like that' : 'No tasks yet'}>
        {isFiltered
          ? 'Ask for another state or context.'
          : 'Say something to the agent, and its task is here.'}
      </EmptyState>
    );
  }
  return (
    <>
      <div class="tasks-scroll" role="region" aria-label="Table of tasks" tabIndex={0}>
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
          Page {tokens.value.length}, {shown.totalSize} {shown.totalSize === 1 ? 'task' : 'tasks'} in all
        </span>
        <Button small disabled={tokens.value.length === 1} onClick={() => turnPage(-1)}>
          Before
        </Button>
        <Button small disabled={shown.nextPageToken === ''} onClick={() => turnPage(1)}>
          Next
        </Button>
      </nav>
    </>
  );
}

/** What a task is about: what was said first. */
function gistOf(task: Task): string {
  const first = task.history?.find(({ role }) => role === 'user');
  return first ? textOf(first.parts).slice(0, 120) : '';
}

function Row({ task, isOpen }: { task: Task; isOpen: boolean }) {
  const details = { ...Object.fromEntries(place.value.details), task: task.id };
  return (
    <tr aria-current={isOpen ? 'true' : undefined}>
      <td>
        <a class="tasks-id" href={hrefOf('tasks', details)}>
          {task.id}
        </a>
        <div class="tasks-gist">{gistOf(task)}</div>
      </td>
      <td>
        <StateBadge state={task.status.state} />
      </td>
      <td class="tasks-time">
        {task.status.timestamp === undefined
          ? ''
          : dayTime(task.status.timestamp)
              .split(' ')
              .map((each) => <span key={each}>{each} </span>)}
      </td>
      <td class="tasks-wide">
        <span class="tasks-id">{task.contextId}</span>
      </td>
    </tr>
  );
}
