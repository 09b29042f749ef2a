import { useEffect } from 'preact/hooks';
import type { PushEntry } from '../../../../src/console/console-api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Spinner } from '../../components/progress.tsx';
import { formatDateTime } from '../../components/format-units.ts';
import { loadPushes, pushDeliveries, pushAnnouncement, pushError, retryPush } from './state.ts';

/** Webhooks that have not got everything, with a way to try again. */
export function PushDeliveries() {
  useEffect(() => void loadPushes(), []);
  return (
    <section class="tasks-pushes" aria-label="Push notifications">
      <div class="tasks-pushes-bar">
        <p>Webhooks that have not got every notification of their task.</p>
        <Button small onClick={() => void loadPushes()}>
          Refresh
        </Button>
      </div>
      <div role="status">{pushAnnouncement.value}</div>
      {pushError.value ? <ErrorNote trouble={pushError.value} /> : null}
      <List />
    </section>
  );
}

function List() {
  if (!pushDeliveries.value)
    return pushError.value ? null : <Spinner label="Asking for push notifications" />;
  if (pushDeliveries.value.length === 0) {
    return <EmptyState title="Everything has arrived">No webhook waits for anything.</EmptyState>;
  }
  return (
    <div class="tasks-scroll" role="region" aria-label="Table of webhooks" tabIndex={0}>
      <table class="tasks-table">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col" class="tasks-number">
              Waiting
            </th>
            <th scope="col" class="tasks-number">
              Attempts
            </th>
            <th scope="col">
              <span class="heard-only">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {pushDeliveries.value.map((entry) => (
            <Row key={`${entry.taskId} ${entry.configId}`} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ entry }: { entry: PushEntry }) {
  return (
    <tr>
      <td>
        <code>{entry.url}</code>
        {entry.problem === undefined ? null : <div class="tasks-problem">{entry.problem}</div>}
      </td>
      <td>
        <span class="tasks-id">{entry.taskId}</span>
      </td>
      <td>
        {entry.deadSince === undefined ? (
          <Badge tone="amber" dot="beat">
            trying
          </Badge>
        ) : (
          <Badge tone="red" dot title={`since ${formatDateTime(entry.deadSince)}`}>
            given up
          </Badge>
        )}
      </td>
      <td class="tasks-number">{entry.waiting}</td>
      <td class="tasks-number">{entry.attempts}</td>
      <td>
        <Button small onClick={() => void retryPush(entry)}>
          Retry
        </Button>
      </td>
    </tr>
  );
}
