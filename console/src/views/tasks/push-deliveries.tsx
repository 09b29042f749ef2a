import { useEffect } from 'preact/hooks';
import type { PushEntry } from '../../../../src/console/console-api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Spinner } from '../../components/progress.tsx';
import { formatDateTime } from '../../components/format-units.ts';
import { loadPushes, pushDeliveries, pushAnnouncement, pushError, retryPush } from './state.ts';

/** Webhooks with undelivered notifications, with retry buttons. */
export function PushDeliveries() {
  useEffect(() => void loadPushes(), []);
  return (
    <section class="tasks-pushes" aria-label="Push notifications">
      <div class="tasks-pushes-bar">
        <p>Webhooks with undelivered notifications.</p>
        <Button small onClick={() => void loadPushes()}>
          Refresh
        </Button>
      </div>
      <div role="status">{pushAnnouncement.value}</div>
      {pushError.value ? <ErrorNote error={pushError.value} /> : null}
      <List />
    </section>
  );
}

function List() {
  if (!pushDeliveries.value) return pushError.value ? null : <Spinner label="Loading push notifications" />;
  if (pushDeliveries.value.length === 0) {
    return <EmptyState title="All notifications delivered">No pending deliveries.</EmptyState>;
  }
  return (
    <div class="tasks-scroll" role="region" aria-label="Webhooks" tabIndex={0}>
      <table class="tasks-table">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col" class="tasks-number">
              Pending
            </th>
            <th scope="col" class="tasks-number">
              Attempts
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
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
        {entry.error === undefined ? null : <div class="tasks-problem">{entry.error}</div>}
      </td>
      <td>
        <span class="tasks-id">{entry.taskId}</span>
      </td>
      <td>
        {entry.deadSince === undefined ? (
          <Badge tone="amber" dot="beat">
            {entry.attempts > 0 ? 'retrying' : 'pending'}
          </Badge>
        ) : (
          <Badge tone="red" dot title={`since ${formatDateTime(entry.deadSince)}`}>
            dead letter
          </Badge>
        )}
      </td>
      <td class="tasks-number">{entry.pendingCount}</td>
      <td class="tasks-number">{entry.attempts}</td>
      <td>
        <Button small onClick={() => void retryPush(entry)}>
          Retry
        </Button>
      </td>
    </tr>
  );
}
