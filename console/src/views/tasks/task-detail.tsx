import { isTerminal, type Task } from '../../../../src/protocol/task.ts';
import { Badge, StateBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { ArtifactView } from '../../components/content/artifact-view.tsx';
import { PartsView } from '../../components/content/parts-view.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Spinner } from '../../components/progress.tsx';
import { FindingNotes } from '../../components/task/finding-notes.tsx';
import { StateTimeline } from '../../components/task/state-timeline.tsx';
import type { ChatTurn } from '../../components/task/chat-turn.ts';
import { consoleInfo } from '../../session/agents.ts';
import { routeHref } from '../../session/router.ts';
import {
  isTaskActive,
  cancelTask,
  updateFilter,
  taskDetail,
  taskFilter,
  followTask,
  stopFollowing,
} from './state.ts';
import { TaskHolders } from './task-holders.tsx';

/** Maximum number of rendered history messages, newest first. */
const maxHistory = 50;

/** The open task: states, history and artifacts. */
export function TaskDetailView() {
  const now = taskDetail.value;
  return (
    <section class="tasks-detail" aria-label="Task">
      <header class="tasks-detail-bar">
        <h2>Task</h2>
        <code class="tasks-detail-id">{taskFilter.value.taskId}</code>
        <CopyButton text={taskFilter.value.taskId} />
        <Button small kind="quiet" onClick={() => updateFilter({ task: undefined })}>
          Close
        </Button>
      </header>
      <div class="tasks-detail-body">
        {now?.error ? <ErrorNote error={now.error} /> : null}
        {now?.turn.task ? (
          <Opened task={now.turn.task} turn={now.turn} isLive={now.isLive} />
        ) : now?.error ? null : (
          <Spinner label="Loading the task" />
        )}
      </div>
    </section>
  );
}

function Opened({ task, turn, isLive }: { task: Task; turn: ChatTurn; isLive: boolean }) {
  return (
    <>
      <div class="tasks-actions">
        <StateBadge state={task.status.state} />
        {isLive ? (
          <Badge tone="teal" dot="beat">
            live
          </Badge>
        ) : null}
        {isTaskActive.value && !isLive ? (
          <Button small onClick={() => void followTask()}>
            Subscribe
          </Button>
        ) : null}
        {isLive ? (
          <Button small onClick={stopFollowing}>
            Unsubscribe
          </Button>
        ) : null}
        {isTaskActive.value ? (
          <Button small kind="danger" onClick={() => void cancelTask()}>
            Cancel task
          </Button>
        ) : null}
        <LinkButton small kind="quiet" href={routeHref('traffic', { task: task.id })}>
          Show traffic
        </LinkButton>
      </div>
      <dl class="tasks-facts">
        <dt>Context</dt>
        <dd>
          <code>{task.contextId}</code>{' '}
          <Button small kind="quiet" onClick={() => updateFilter({ context: task.contextId })}>
            All tasks of this context
          </Button>
        </dd>
        {consoleInfo.value?.hasReplicas ? (
          <TaskHolders key={task.id} taskId={task.id} isActive={isTaskActive.value} />
        ) : null}
      </dl>
      <h3>States</h3>
      <StateTimeline steps={turn.steps} lost={turn.lostSteps} />
      <FindingNotes findings={turn.findings} />
      <History task={task} />
      <Artifacts task={task} turn={turn} />
      {task.metadata ? (
        <>
          <h3>Metadata</h3>
          <JsonView value={task.metadata} label="Metadata" />
        </>
      ) : null}
    </>
  );
}

function History({ task: { history = [] } }: { task: Task }) {
  if (history.length === 0) return null;
  const shown = history.slice(-maxHistory);
  return (
    <>
      <h3>
        History <small>{history.length}</small>
      </h3>
      <ol class="tasks-history">
        {shown.map((message, at) => (
          <li key={`${message.messageId} ${at}`} class={`tasks-message tasks-message-${message.role}`}>
            <div class="tasks-message-by">{message.role}</div>
            <PartsView parts={message.parts} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Artifacts({ task, turn }: { task: Task; turn: ChatTurn }) {
  const artifacts = task.artifacts ?? [];
  if (artifacts.length === 0) return null;
  return (
    <>
      <h3>
        Artifacts <small>{artifacts.length}</small>
      </h3>
      {artifacts.map((artifact) => (
        <ArtifactView
          key={artifact.artifactId}
          artifact={artifact}
          isGrowing={turn.growing.has(artifact.artifactId) && !isTerminal(task.status.state)}
        />
      ))}
    </>
  );
}
