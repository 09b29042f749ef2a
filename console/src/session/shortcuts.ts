import { signal } from '@preact/signals';
import { selectedAgent } from './agents.ts';
import { navigate, views } from './router.ts';

/** True while the shortcuts dialog is open. */
export const areShortcutsShown = signal(false);

/** Returns true if a key press belongs to an input or an open dialog. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTaken(event.target)) return;
  if (event.key === '?') {
    areShortcutsShown.value = true;
    return;
  }
  const view = /^[1-9]$/.test(event.key) ? views[Number(event.key) - 1] : undefined;
  if (view) navigate(view, { agent: selectedAgent.peek()?.id });
});
