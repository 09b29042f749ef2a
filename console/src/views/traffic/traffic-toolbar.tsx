import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorNote, type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { Select } from '../../components/form-fields.tsx';
import { FilePicker } from '../../components/file-picker.tsx';
import { navigate } from '../../session/router.ts';
import type { ProtocolVersion } from '../../../../src/protocol/card.ts';
import type { TrafficRecordKind } from '../../../../src/tap/traffic-record.ts';
import { exportFile, importFile, saveHar, saveScenario } from './files.ts';
import { RecordingsDialog } from './recordings/recordings-dialog.tsx';
import { isEmpty, type RecordMark } from './filter.ts';
import {
  clear,
  trafficFilter,
  hiddenCount,
  isFollowing,
  isPaused,
  openedFile,
  timelineVersion,
  timeline,
  togglePause,
  heldBackCount,
  filterInput,
} from './state.ts';
import { formatCount, formatCountedNoun } from '../../components/format-units.ts';
import { kindNames } from './labels.ts';

const marks: readonly { readonly mark: RecordMark; readonly name: string }[] = [
  { mark: 'errors', name: 'Errors' },
  { mark: 'losses', name: 'Losses' },
  { mark: 'findings', name: 'Findings' },
];

/** Actions and filters of the timeline. */
export function TrafficToolbar() {
  /** Narrow views collapse the tools. */
  const isAll = useSignal(false);
  const error = useSignal<DisplayError | undefined>(undefined);
  const attempt = (work: Promise<void>) => {
    error.value = undefined;
    work.catch((thrown: unknown) => {
      error.value = toDisplayError(thrown);
    });
  };
  return (
    <div class={isAll.value ? 'traffic-tools traffic-tools-all' : 'traffic-tools'}>
      <div class="traffic-bar">
        <Playing attempt={attempt} />
        <span class="traffic-space" />
        <span class="traffic-seldom">
          <Files attempt={attempt} />
        </span>
        <span class="traffic-more">
          <Button kind="quiet" aria-expanded={isAll.value} onClick={() => (isAll.value = !isAll.value)}>
            {isAll.value ? 'Less' : 'More'}
          </Button>
        </span>
      </div>
      <Filters />
      {error.value ? <ErrorNote error={error.value} /> : null}
    </div>
  );
}

function Playing({ attempt }: { attempt: (work: Promise<void>) => void }) {
  if (openedFile.value) return null;
  return (
    <>
      <Button kind={isPaused.value ? 'main' : 'plain'} title="Space" onClick={togglePause}>
        {isPaused.value
          ? `Resume${heldBackCount.value > 0 ? ` (${formatCount(heldBackCount.value)})` : ''}`
          : 'Pause'}
      </Button>
      <Button aria-pressed={isFollowing.value} onClick={() => (isFollowing.value = !isFollowing.value)}>
        Follow newest
      </Button>
      <Button onClick={() => attempt(clear())}>Clear</Button>
    </>
  );
}

function Files({ attempt }: { attempt: (work: Promise<void>) => void }) {
  void timelineVersion.value;
  const { shown } = timeline.value;
  // A filter may hide the responses, but a scenario needs complete exchanges.
  const shownExchanges = () => {
    const exchanges = new Set(shown.slice().map(({ exchangeId }) => exchangeId));
    return timeline.value.records(({ exchangeId }) => exchanges.has(exchangeId));
  };
  return (
    <>
      <Button
        disabled={shown.length === 0}
        title="Export the exchanges of the shown records as a scenario test"
        onClick={() => attempt(saveScenario(shownExchanges(), 'scenario'))}
      >
        Save as scenario
      </Button>
      <Button
        disabled={shown.length === 0}
        title="Export the exchanges of the shown records as an HTTP archive, which browsers open; without credentials"
        onClick={() => attempt(saveHar(shownExchanges()))}
      >
        Export HAR
      </Button>
      {openedFile.value ? null : (
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
      <RecordingsDialog />
    </>
  );
}

function Filters() {
  void timelineVersion.value;
  const text = useSignal(filterInput.peek().text ?? '');
  const {
    participant = '',
    version = '',
    kind = '',
    marks: selectedMarks = new Set<RecordMark>(),
    isWithoutCards = false,
    isWithoutTests = false,
  } = filterInput.value;
  const { participants, shown, length } = timeline.value;
  const usual = length - hiddenCount.value;
  // Debounces filtering while typing.
  useEffect(() => {
    const timer = setTimeout(() => {
      if ((filterInput.peek().text ?? '') !== text.value)
        filterInput.value = { ...filterInput.peek(), text: text.value };
    }, 150);
    return () => clearTimeout(timer);
  }, [text.value]);
  const names =
    participant === '' || participants.names.includes(participant)
      ? participants.names
      : [participant, ...participants.names];
  return (
    <div class="traffic-bar traffic-filters" role="search" aria-label="Filter traffic">
      <input
        class="input traffic-find"
        type="search"
        aria-label="Search"
        placeholder="Search all content"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <Select
        label="Participant"
        isLabelHidden
        value={participant}
        onValue={(value) => (filterInput.value = { ...filterInput.value, participant: value })}
        choices={[
          { value: '', text: 'All participants' },
          ...names.map((name) => ({ value: name, text: name })),
        ]}
      />
      <Select
        label="Version"
        isLabelHidden
        value={version}
        onValue={(value) =>
          (filterInput.value = { ...filterInput.value, version: value as ProtocolVersion | '' })
        }
        choices={[
          { value: '', text: 'All versions' },
          ...(['1.0', '0.3', '0.2', '0.1'] as const).map((each) => ({ value: each, text: each })),
        ]}
      />
      <Select
        label="Kind"
        isLabelHidden
        value={kind}
        onValue={(value) =>
          (filterInput.value = { ...filterInput.value, kind: value as TrafficRecordKind | '' })
        }
        choices={[
          { value: '', text: 'All kinds' },
          ...Object.entries(kindNames).map(([value, name]) => ({ value, text: name })),
        ]}
      />
      <span class="traffic-group" role="group" aria-label="Only rows with">
        {marks.map(({ mark, name }) => (
          <Button
            key={mark}
            aria-pressed={selectedMarks.has(mark)}
            onClick={() => {
              const now = new Set(selectedMarks);
              if (!now.delete(mark)) now.add(mark);
              filterInput.value = { ...filterInput.value, marks: now };
            }}
          >
            {name}
          </Button>
        ))}
      </span>
      <span class="traffic-seldom">
        <Button
          aria-pressed={!isWithoutCards}
          title="Card requests, card announcements and health checks"
          onClick={() => (filterInput.value = { ...filterInput.value, isWithoutCards: !isWithoutCards })}
        >
          Cards
        </Button>
        <Button
          aria-pressed={!isWithoutTests}
          title="Requests of conformance tests and load runs, and everything about their tasks"
          onClick={() => (filterInput.value = { ...filterInput.value, isWithoutTests: !isWithoutTests })}
        >
          Tests
        </Button>
      </span>
      <Narrowed />
      <span class="traffic-space" />
      <span class="traffic-count" role="status">
        {shown.length === usual
          ? formatCountedNoun(usual, 'record', 'records')
          : `${formatCount(shown.length)} of ${formatCountedNoun(usual, 'record', 'records')}`}
        {hiddenCount.value === 0 ? '' : `, ${formatCountedNoun(hiddenCount.value, 'card', 'cards')} hidden`}
      </span>
      {isEmpty(trafficFilter.value) ? null : (
        <Button
          kind="quiet"
          onClick={() => {
            text.value = '';
            filterInput.value = { isWithoutCards, isWithoutTests };
            navigate('traffic');
          }}
        >
          Show all
        </Button>
      )}
    </div>
  );
}

/** The task or exchange filter of the page URL. */
function Narrowed() {
  const { task, exchange } = trafficFilter.value;
  const [name, id] = task ? ['Task', task] : ['Exchange', exchange];
  if (!id) return null;
  return (
    <span class="traffic-narrowed">
      {name} <code title={id}>{id}</code>
      <button
        type="button"
        aria-label={`Remove the ${name.toLowerCase()} filter`}
        onClick={() => navigate('traffic')}
      >
        ×
      </button>
    </span>
  );
}
