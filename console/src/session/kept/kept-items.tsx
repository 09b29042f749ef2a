import { useSignal } from '@preact/signals';
import { Button } from '../../components/button.tsx';
import { type DisplayError, ErrorNote } from '../../components/error-note.tsx';
import { TextField } from '../../components/form-fields.tsx';
import { SessionPlace } from './session-place.tsx';
import './kept-items.css';

/** A conversation or recording that the server keeps. */
interface KeptItem {
  readonly id: string;
  readonly name: string;
  /** Time and size. */
  readonly facts: string;
}

interface KeptItemsProps {
  noun: string;
  items: readonly KeptItem[];
  /** What "Clear all" deletes. */
  clearHint: string;
  error: DisplayError | undefined;
  onOpen: (id: string) => void;
  onRename: (id: string, name: string) => void;
  onDelete: (id: string) => void;
  onClear: () => void;
}

/** A list of kept items: open, rename, delete, clear all. */
export function KeptItems({
  noun,
  items,
  clearHint,
  error,
  onOpen,
  onRename,
  onDelete,
  onClear,
}: KeptItemsProps) {
  const renamed = useSignal<string | undefined>(undefined);
  const isClearing = useSignal(false);
  return (
    <div class="kept">
      {error ? <ErrorNote error={error} /> : null}
      {items.length === 0 ? <p class="kept-note">No {noun}s yet.</p> : null}
      <ul class="kept-list" aria-label={`Kept ${noun}s`}>
        {items.map((item) => (
          <li key={item.id} class="kept-item">
            {renamed.value === item.id ? (
              <RenameForm
                item={item}
                onEnd={(name) => {
                  renamed.value = undefined;
                  if (name !== undefined) onRename(item.id, name);
                }}
              />
            ) : (
              <>
                <button type="button" class="kept-name" onClick={() => onOpen(item.id)}>
                  {item.name}
                </button>
                <span class="kept-facts">{item.facts}</span>
                <Button
                  small
                  kind="quiet"
                  aria-label={`Rename ${item.name}`}
                  onClick={() => (renamed.value = item.id)}
                >
                  Rename
                </Button>
                <Button
                  small
                  kind="danger"
                  aria-label={`Delete ${item.name}`}
                  onClick={() => onDelete(item.id)}
                >
                  Delete
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
      <div class="kept-end">
        {isClearing.value ? (
          <>
            <span class="kept-note">{clearHint}</span>
            <Button
              kind="danger"
              onClick={() => {
                isClearing.value = false;
                onClear();
              }}
            >
              Delete all {noun}s
            </Button>
            <Button onClick={() => (isClearing.value = false)}>Keep them</Button>
          </>
        ) : (
          <Button onClick={() => (isClearing.value = true)}>Clear all</Button>
        )}
      </div>
      <SessionPlace />
    </div>
  );
}

function RenameForm({ item, onEnd }: { item: KeptItem; onEnd: (name: string | undefined) => void }) {
  const name = useSignal(item.name);
  return (
    <form
      class="kept-form"
      onSubmit={(event) => {
        event.preventDefault();
        onEnd(name.value.trim() === '' ? undefined : name.value.trim());
      }}
    >
      <TextField label="Name" required value={name.value} onValue={(value) => (name.value = value)} />
      <Button small kind="main" type="submit">
        Save
      </Button>
      <Button small onClick={() => onEnd(undefined)}>
        Cancel
      </Button>
    </form>
  );
}
