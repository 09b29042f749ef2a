import type { ComponentChildren } from 'preact';
import { isOutdated } from './state.ts';

/** Controls of the draft: disabled while it still belongs to the agent that was selected before. */
export function Editable({ children }: { children: ComponentChildren }) {
  return (
    <fieldset class="requests-editable" disabled={isOutdated.value}>
      {children}
    </fieldset>
  );
}
