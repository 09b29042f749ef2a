import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { RecordDetail } from './record-detail.tsx';
import { SequenceDiagram } from './diagram/sequence-diagram.tsx';
import { Splitter } from './splitter.tsx';
import {
  startTraffic,
  hiddenCount,
  isOpen,
  showFile,
  missedRecords,
  openedFile,
  selectedRecord,
  timelineVersion,
  timeline,
  filterInput,
} from './state.ts';
import { TrafficToolbar } from './traffic-toolbar.tsx';
import { formatCountedNoun } from './labels.ts';
import './traffic.css';

/** Everything that passes between the parties, as it passes. */
export function TrafficView() {
  useEffect(startTraffic, []);
  void timelineVersion.value;
  const isSplit = isOpen.value && selectedRecord.value !== undefined;
  return (
    <div class="wire">
      <TrafficToolbar />
      <Notices />
      <div class={isSplit ? 'wire-split wire-split-open' : 'wire-split'}>
        {timeline.value.shown.length === 0 ? <Nothing /> : <SequenceDiagram />}
        {isSplit ? <Splitter /> : null}
        <RecordDetail />
      </div>
    </div>
  );
}

function Notices() {
  return (
    <>
      {openedFile.value ? (
        <div class="wire-notice" role="status">
          <span>
            This is the file <b>{openedFile.value.name}</b>, not what passes now.
          </span>
          <Button small onClick={() => showFile(undefined)}>
            Back to live
          </Button>
        </div>
      ) : null}
      {missedRecords.value > 0 && !openedFile.value ? (
        <div class="wire-notice" role="status">
          <span>
            {formatCountedNoun(missedRecords.value, 'passage was', 'passages were')} forgotten before this
            page read them.
          </span>
          <Button small onClick={() => (missedRecords.value = 0)}>
            All right
          </Button>
        </div>
      ) : null}
    </>
  );
}

function Nothing() {
  if (timeline.value.length > 0 && hiddenCount.value === timeline.value.length) {
    return (
      <EmptyState
        title="Nothing but cards has passed"
        actions={
          <Button onClick={() => (filterInput.value = { ...filterInput.value, isWithoutCards: false })}>
            Show cards
          </Button>
        }
      >
        {formatCountedNoun(
          hiddenCount.value,
          'passage fetched or announced a card',
          'passages fetched or announced cards',
        )}
        .
      </EmptyState>
    );
  }
  if (timeline.value.length > 0) {
    return (
      <EmptyState title="Nothing of this kind has passed">
        Ask for less, or wait: what comes is looked at as well.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing has passed yet">
      What agents, gateways and meshes say to each other appears here as it happens: each request, each
      answer, each event of a stream. Say something in the chat to see it. To see what others say to each
      other, run <code>dragoman tap --to URL --console</code> or <code>dragoman up</code>, or import the file
      of a tap.
    </EmptyState>
  );
}
