import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorNote, type Trouble, troubleOf } from '../../components/error-note.tsx';
import { Select } from '../../components/form-fields.tsx';
import { FilePicker } from '../../components/file-picker.tsx';
import { go } from '../../session/router.ts';
import type { Version } from '../../../../src/protocol/card.ts';
import type { PassageKind } from '../../../../src/tap/traffic-record.ts';
import { exportFile, importFile, saveScenario } from './files.ts';
import { isEmpty, type Mark } from './filter.ts';
import {
  clear,
  filter,
  hidden,
  isFollowing,
  isPaused,
  opened,
  tick,
  timeline,
  togglePause,
  waiting,
  wish,
} from './state.ts';
import { counted, grouped, kindNames } from './labels.ts';

const marks: readonly { readonly mark: Mark; readonly name: string }[] = [
  { mark: 'errors', name: 'Errors' },
  { mark: 'losses', name: 'Losses' },
  { mark: 'findings', name: 'Findings' },
];

/** What can be done with the timeline, and what is to be seen of it. */
export function Toolbar() {
  /** A small view has no room for all of it. */
  const isAll = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const attempt = (work: Promise<void>) => {
    trouble.value = undefined;
    work.catch((error: unknown) => {
      trouble.value = troubleOf(error);
    });
  };
  return (
    <div class={isAll.value ? 'wire-tools wire-tools-all' : 'wire-tools'}>
      <div class="wire-bar">
        <Playing attempt={attempt} />
        <span class="wire-space" />
        <span class="wire-seldom">
          <Files attempt={attempt} />
        </span>
        <span class="wire-more">
          <Button kind="quiet" aria-expanded={isAll.value} onClick={() => (isAll.value = !isAll.value)}>
            {isAll.value ? 'Less' : 'More'}
          </Button>
        </span>
      </div>
      <Filters />
      {trouble.value ? <ErrorNote trouble={trouble.value} /> : null}
    </div>
  );
}

function Playing({ attempt }: { attempt: (work: Promise<void>) => void }) {
  if (opened.value) return null;
  return (
    <>
      <Button kind={isPaused.value ? 'main' : 'plain'} title="Space" onClick={togglePause}>
        {isPaused.value ? `Resume${waiting.value > 0 ? ` (${grouped(waiting.value)})` : ''}` : 'Pause'}
      </Button>
      <Button aria-pressed={isFollowing.value} onClick={() => (isFollowing.value = !isFollowing.value)}>
        Follow newest
      </Button>
      <Button onClick={() => attempt(clear())}>Clear</Button>
    </>
  );
}

function Files({ attempt }: { attempt: (work: Promise<void>) => void }) {
  void tick.value;
  const { shown } = timeline.value;
  return (
    <>
      <Button
        disabled={shown.length === 0}
        title="What is shown, as a script that a test agent plays"
        onClick={() => attempt(saveScenario(shown.slice(), 'scenario'))}
      >
        Save as scenario
      </Button>
      {opened.value ? null : (
        <Button disabled={shown.length === 0} onClick={() => attempt(exportFile())}>
          Export
        </Button>
      )}
      <FilePicker
        label="Import"
        onFiles={([file]) => {
          if (file) attempt(importFile(file));
        }}
      />
    </>
  );
}

function Filters() {
  void tick.value;
  const text = useSignal(wish.peek().text ?? '');
  const {
    party = '',
    version = '',
    kind = '',
    marks: asked = new Set<Mark>(),
    isWithoutCards = false,
  } = wish.value;
  const { parties, shown, length } = timeline.value;
  const usual = length - hidden.value;
  // A letter more is not worth looking through everything at once.
  useEffect(() => {
    const timer = setTimeout(() => {
      if ((wish.peek().text ?? '') !== text.value) wish.value = { ...wish.peek(), text: text.value };
    }, 150);
    return () => clearTimeout(timer);
  }, [text.value]);
  const names = party === '' || parties.names.includes(party) ? parties.names : [party, ...parties.names];
  return (
    <div class="wire-bar wire-filters" role="search" aria-label="Filter the timeline">
      <input
        class="input wire-find"
        type="search"
        aria-label="Text to find"
        placeholder="Find in everything"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <Select
        label="Party"
        isLabelHidden
        value={party}
        onValue={(value) => (wish.value = { ...wish.value, party: value })}
        choices={[{ value: '', text: 'All parties' }, ...names.map((name) => ({ value: name, text: name }))]}
      />
      <Select
        label="Version"
        isLabelHidden
        value={version}
        onValue={(value) => (wish.value = { ...wish.value, version: value as Version | '' })}
        choices={[
          { value: '', text: 'All versions' },
          ...(['1.0', '0.3', '0.2', '0.1'] as const).map((each) => ({ value: each, text: each })),
        ]}
      />
      <Select
        label="Kind"
        isLabelHidden
        value={kind}
        onValue={(value) => (wish.value = { ...wish.value, kind: value as PassageKind | '' })}
        choices={[
          { value: '', text: 'All kinds' },
          ...Object.entries(kindNames).map(([value, name]) => ({ value, text: name })),
        ]}
      />
      <span class="wire-group" role="group" aria-label="Only rows with">
        {marks.map(({ mark, name }) => (
          <Button
            key={mark}
            aria-pressed={asked.has(mark)}
            onClick={() => {
              const now = new Set(asked);
              if (!now.delete(mark)) now.add(mark);
              wish.value = { ...wish.value, marks: now };
            }}
          >
            {name}
          </Button>
        ))}
      </span>
      <span class="wire-seldom">
        <Button
          aria-pressed={!isWithoutCards}
          title="Cards that are fetched and announced, and looks whether somebody is well"
          onClick={() => (wish.value = { ...wish.value, isWithoutCards: !isWithoutCards })}
        >
          Cards
        </Button>
      </span>
      <Narrowed />
      <span class="wire-space" />
      <span class="wire-count" role="status">
        {shown.length === usual
          ? counted(usual, 'passage', 'passages')
          : `${grouped(shown.length)} of ${counted(usual, 'passage', 'passages')}`}
        {hidden.value === 0 ? '' : `, ${counted(hidden.value, 'card', 'cards')} hidden`}
      </span>
      {isEmpty(filter.value) ? null : (
        <Button
          kind="quiet"
          onClick={() => {
            text.value = '';
            wish.value = { isWithoutCards };
            go('wire');
          }}
        >
          Show all
        </Button>
      )}
    </div>
  );
}

/** The task or the trip that the address asks for. */
function Narrowed() {
  const { task, trip } = filter.value;
  const [name, id] = task ? ['Task', task] : ['Trip', trip];
  if (!id) return null;
  return (
    <span class="wire-narrowed">
      {name} <code title={id}>{id}</code>
      <button
        type="button"
        aria-label={`Show more than this ${name.toLowerCase()}`}
        onClick={() => go('wire')}
      >
        ×
      </button>
    </span>
  );
}
