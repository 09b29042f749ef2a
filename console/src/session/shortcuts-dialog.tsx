import { Dialog } from '../components/dialog.tsx';
import { areShortcutsShown } from './shortcuts.ts';
import { views } from './router.ts';

/** Shows the keys. */
export function ShortcutsDialog() {
  return (
    <Dialog title="Keys" isOpen={areShortcutsShown.value} onClose={() => (areShortcutsShown.value = false)}>
      <dl class="keys">
        <dt>
          <kbd>1</kbd>…<kbd>{views.length}</kbd>
        </dt>
        <dd>{views.join(', ')}</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>these keys</dd>
        <dt>
          <kbd>Enter</kbd>
        </dt>
        <dd>sends a message</dd>
        <dt>
          <kbd>Shift</kbd>
          <kbd>Enter</kbd>
        </dt>
        <dd>begins a new line in a message</dd>
        <dt>
          <kbd>↑</kbd>
          <kbd>↓</kbd>
        </dt>
        <dd>go through a list; Page, Home and End go further</dd>
        <dt>
          <kbd>Space</kbd>
        </dt>
        <dd>keeps the timeline of the wire as it is, or lets it go on</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>closes what is open</dd>
      </dl>
    </Dialog>
  );
}
