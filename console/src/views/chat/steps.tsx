import { useSignal } from '@preact/signals';
import { stateTones } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { PartsView } from '../../parts/content/parts-view.tsx';
import { clockTime } from '../../parts/time.ts';
import type { Step } from './conversation.ts';
import { FindingNotes } from './finding-notes.tsx';

/** How many steps are shown before somebody asks for all. */
const maxShown = 6;

/** The states that a task came to, as a small timeline. */
export function Steps({ steps, lost }: { steps: readonly Step[]; lost: number }) {
  const isOpen = useSignal(false);
  if (steps.length === 0) return null;
  const shown = isOpen.value ? steps : steps.slice(-maxShown);
  const hidden = steps.length - shown.length;
  return (
    <div class="chat-steps">
      {hidden > 0 ? (
        <Button small kind="quiet" onClick={() => (isOpen.value = true)}>
          {hidden} earlier steps
        </Button>
      ) : null}
      {lost > 0 && hidden === 0 ? (
        <div class="chat-step-time">{lost} earlier steps are no longer kept</div>
      ) : null}
      <ol>
        {shown.map((step, at) => (
          <li key={steps.length - shown.length + at} class={`chat-step chat-step-${stateTones[step.state]}`}>
            <span class="chat-step-state">{step.state}</span>
            {step.at === undefined ? null : <time class="chat-step-time">{clockTime(step.at)}</time>}
            {step.parts ? <PartsView parts={step.parts} /> : null}
            <FindingNotes findings={step.findings} />
          </li>
        ))}
      </ol>
    </div>
  );
}
