import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Completion, completeBody } from './draft/complete-body.ts';
import type { RequestDraft } from './draft/request-draft.ts';
import { changeDraft } from './state.ts';

const listId = 'body-suggestions';

/** The body of a request with suggestions of member names and values while the user types. */
export function BodyEditor({ draft, onScroll }: { draft: RequestDraft; onScroll: (top: number) => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const completion = useSignal<Completion | undefined>(undefined);
  const active = useSignal(0);
  /** Where the cursor belongs after a suggestion was inserted. */
  const cursor = useRef<number | undefined>(undefined);
  const suggestions = completion.value?.suggestions ?? [];

  useLayoutEffect(() => {
    if (cursor.current === undefined) return;
    field.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  }, [draft.body]);
  useLayoutEffect(() => {
    list.current?.children[active.value]?.scrollIntoView({ block: 'nearest' });
  }, [active.value]);

  const suggest = (body: string, offset: number) => {
    active.value = 0;
    completion.value = completeBody({ ...draft, body }, offset);
  };
  const close = () => (completion.value = undefined);
  const insert = (index: number) => {
    const { from, to } = completion.value ?? { from: 0, to: 0 };
    const text = suggestions[index]?.text;
    close();
    if (text === undefined) return;
    cursor.current = from + text.length;
    changeDraft({ body: draft.body.slice(0, from) + text + draft.body.slice(to) });
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const { key, ctrlKey, currentTarget } = event;
    if (key === ' ' && ctrlKey) suggest(currentTarget.value, currentTarget.selectionStart);
    else if (suggestions.length === 0) return;
    else if (key === 'ArrowDown') active.value = (active.value + 1) % suggestions.length;
    else if (key === 'ArrowUp') active.value = (active.value + suggestions.length - 1) % suggestions.length;
    else if (key === 'Enter' || key === 'Tab') insert(active.value);
    else if (key === 'Escape') close();
    else {
      if (key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End') close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="requests-body">
      <textarea
        ref={field}
        class="input input-mono"
        aria-label="Body"
        aria-autocomplete="list"
        aria-controls={suggestions.length > 0 ? listId : undefined}
        aria-activedescendant={suggestions.length > 0 ? `${listId}-${active.value}` : undefined}
        spellcheck={false}
        wrap="off"
        value={draft.body}
        onInput={({ currentTarget: { value, selectionStart } }) => {
          suggest(value, selectionStart);
          changeDraft({ body: value });
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
        onClick={close}
        onScroll={(event) => onScroll(event.currentTarget.scrollTop)}
      />
      {suggestions.length === 0 ? null : (
        <ul
          id={listId}
          class="requests-suggestions"
          style={placeAtCursor(field.current, draft.body, completion.value?.from ?? 0)}
          role="listbox"
          aria-label="Suggestions"
          ref={list}
        >
          {suggestions.map(({ label, detail }, at) => (
            <li
              key={label}
              id={`${listId}-${at}`}
              role="option"
              aria-selected={at === active.value}
              // The field keeps the focus.
              onMouseDown={(event) => {
                event.preventDefault();
                insert(at);
              }}
            >
              <code>{label}</code> <small>{detail}</small>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Height of the list in pixels at most. */
const maxHeight = 180;
const lineHeight = 1.5;

/** Places the list below the line of an offset, or above it if there is no room. */
function placeAtCursor(
  field: HTMLTextAreaElement | null,
  body: string,
  offset: number,
): Record<string, string> {
  const before = body.slice(0, offset).split('\n');
  const { scrollTop = 0, scrollLeft = 0, clientHeight = 0 } = field ?? {};
  const fontSize = field ? Number.parseFloat(getComputedStyle(field).fontSize) : 0;
  const top = 8 + (before.length - 1) * lineHeight * fontSize - scrollTop;
  const below = top + lineHeight * fontSize;
  const isAbove = below + maxHeight > clientHeight && top > maxHeight;
  return {
    fontSize: `${fontSize}px`,
    maxHeight: `${maxHeight}px`,
    ...(isAbove ? { bottom: `calc(100% - ${top}px)` } : { top: `${below}px` }),
    left: `clamp(0px, calc(10px + ${before.at(-1)?.length ?? 0}ch - ${scrollLeft}px), calc(100% - min(100%, 280px)))`,
  };
}
