import { type Artifact, isInterrupted, isTerminal } from '../../../../src/protocol/task.ts';
import { StateBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { ArtifactView } from '../../components/content/artifact-view.tsx';
import { PartsView } from '../../components/content/parts-view.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Spinner } from '../../components/progress.tsx';
import { FindingNotes } from '../../components/task/finding-notes.tsx';
import { StateTimeline } from '../../components/task/state-timeline.tsx';
import type { StateChange, ChatTurn } from '../../components/task/chat-turn.ts';
import { formatClockTime } from '../../components/format-units.ts';
import { routeHref } from '../../session/router.ts';
import { adviceFor } from './error-advice.ts';
import { artifactsOf, type ChatConversation, isCancelable, isPlainAnswer } from './conversation.ts';
import { cancelTurn } from './state.ts';

interface TurnProps {
  conversation: ChatConversation;
  turn: ChatTurn;
}

/** One turn: the message of the user and its results. */
export function TurnView({ conversation, turn }: TurnProps) {
  return (
    <div class="chat-turn">
      <div class="chat-mine">
        <span class="visually-hidden">You</span>
        <PartsView parts={turn.input} />
      </div>
      <time class="chat-time">{formatClockTime(turn.at).slice(0, 8)}</time>
      <Answer conversation={conversation} turn={turn} />
    </div>
  );
}

/** A status with a message: a terminal state or a question. */
const isSpoken = ({ state, parts }: StateChange): boolean =>
  parts !== undefined && parts.length > 0 && (isTerminal(state) || isInterrupted(state));

function Answer({ conversation, turn }: TurnProps) {
  const { steps, message, error, findings } = turn;
  const spoken = steps.filter(isSpoken);
  return (
    <div class="chat-theirs">
      <StateTimeline steps={steps.filter((step) => !isSpoken(step))} lost={turn.lostSteps} />
      {artifactsOf(conversation, turn).map((artifact) => (
        <Made
          key={artifact.artifactId}
          artifact={artifact}
          isGrowing={turn.growing.has(artifact.artifactId)}
        />
      ))}
      {spoken.map((step, at) => (
        <SpokenStep key={at} step={step} />
      ))}
      {message ? (
        <div class="chat-bubble">
          <PartsView parts={message.parts} />
        </div>
      ) : null}
      <FindingNotes findings={findings} />
      {turn.omitted === undefined ? null : (
        <p class="chat-omitted">
          The console did not keep {turn.omitted} further {turn.omitted === 1 ? 'event' : 'events'} of this
          answer: it was too long. Open the task to see its result.
        </p>
      )}
      {error ? (
        <ErrorNote error={error}>
          {adviceFor(error.reason) === undefined ? null : (
            <span class="chat-advice">{adviceFor(error.reason)}</span>
          )}
        </ErrorNote>
      ) : null}
      {turn.isRunning && steps.length === 0 ? <Spinner label="Waiting for a response" /> : null}
      <Foot conversation={conversation} turn={turn} />
    </div>
  );
}

/** An artifact. Unnamed text is rendered as a chat message. */
function Made({ artifact, isGrowing }: { artifact: Artifact; isGrowing: boolean }) {
  if (!isPlainAnswer(artifact)) return <ArtifactView artifact={artifact} isGrowing={isGrowing} />;
  return (
    <div class={isGrowing ? 'chat-bubble chat-growing' : 'chat-bubble'}>
      <PartsView parts={artifact.parts} isGrowing={isGrowing} />
    </div>
  );
}

const questions: { readonly [state: string]: string } = {
  'input-required': 'The agent requests input',
  'auth-required': 'The agent requires authentication',
};

function SpokenStep({ step }: { step: StateChange }) {
  const question = questions[step.state];
  return (
    <div class={question === undefined ? 'chat-bubble' : `chat-bubble chat-question chat-${step.state}`}>
      {question === undefined ? null : <div class="chat-question-title">{question}</div>}
      <PartsView parts={step.parts ?? []} />
      <FindingNotes findings={step.findings} />
    </div>
  );
}

function Foot({ conversation, turn }: TurnProps) {
  const { task } = turn;
  if (!task) {
    if (!turn.isRunning) return null;
    return (
      <div class="chat-foot">
        <Button small onClick={() => void cancelTurn(conversation, turn)}>
          Stop waiting
        </Button>
      </div>
    );
  }
  return (
    <div class="chat-foot">
      <StateBadge state={task.status.state} />
      <code class="chat-id" title={`Task ${task.id}`}>
        {task.id}
      </code>
      <LinkButton small kind="quiet" href={routeHref('traffic', { task: task.id })}>
        Show traffic
      </LinkButton>
      <LinkButton
        small
        kind="quiet"
        href={routeHref('tasks', { agent: conversation.agentId, task: task.id })}
      >
        Open task
      </LinkButton>
      {isCancelable(conversation, turn) ? (
        <Button small kind="danger" onClick={() => void cancelTurn(conversation, turn)}>
          Cancel task
        </Button>
      ) : null}
    </div>
  );
}
