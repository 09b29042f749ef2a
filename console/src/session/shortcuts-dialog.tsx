import { Dialog } from '../components/dialog.tsx';
import { areShortcutsShown } from './shortcuts.ts';
import { views } from './router.ts';

/** Lists the keyboard shortcuts. */
export function ShortcutsDialog() {
  return (
    <Dialog
      title="Keyboard shortcuts"
      isOpen={areShortcutsShown.value}
      onClose={() => (areShortcutsShown.value = false)}
    >
      <dl class="keys">
        <dt>
          <kbd>1</kbd>…<kbd>{views.length}</kbd>
        </dt>
        <dd>{views.join(', ')}</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>this dialog</dd>
        <dt>
          <kbd>Enter</kbd>
        </dt>
        <dd>send a message</dd>
        <dt>
          <kbd>Shift</kbd>
          <kbd>Enter</kbd>
        </dt>
        <dd>new line in a message</dd>
        <dt>
          <kbd>Ctrl</kbd>
          <kbd>Enter</kbd>
        </dt>
        <dd>send the composed request</dd>
        <dt>
          <kbd>↑</kbd>
          <kbd>↓</kbd>
        </dt>
        <dd>move in a list; also Page Up, Page Down, Home and End</dd>
        <dt>
          <kbd>Space</kbd>
        </dt>
        <dd>pause or resume the traffic timeline</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>close the dialog or detail</dd>
      </dl>
    </Dialog>
  );
}
