import { useSignal } from '@preact/signals';
import { stateTones } from '../badge.tsx';
import { Button } from '../button.tsx';
import { PartsView } from '../content/parts-view.tsx';
import { formatClockTime } from '../format-units.ts';
import type { StateChange } from './chat-turn.ts';
import { FindingNotes } from './finding-notes.tsx';
import './task.css';

/** Number of steps shown before "earlier steps" is expanded. */
const maxShown = 6;

/** Timeline of the states of a task. */
export function StateTimeline({ steps, lost }: { steps: readonly StateChange[]; lost: number }) {
  const isOpen = useSignal(false);
  if (steps.length === 0) return null;
  const shown = isOpen.value ? steps : steps.slice(-maxShown);
  const hidden = steps.length - shown.length;
  return (
    <div class="task-steps">
      {hidden > 0 ? (
        <Button small kind="quiet" onClick={() => (isOpen.value = true)}>
          {hidden} earlier steps
        </Button>
      ) : null}
      {lost > 0 && hidden === 0 ? (
        <div class="task-step-time">{lost} earlier steps were discarded</div>
      ) : null}
      <ol>
        {shown.map((step, at) => (
          <li key={steps.length - shown.length + at} class={`task-step task-step-${stateTones[step.state]}`}>
            <span class="task-step-state">{step.state}</span>
            {step.at === undefined ? null : <time class="task-step-time">{formatClockTime(step.at)}</time>}
            {step.parts ? <PartsView parts={step.parts} /> : null}
            <FindingNotes findings={step.findings} />
          </li>
        ))}
      </ol>
    </div>
  );
}
