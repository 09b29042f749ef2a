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
import { formatCountedNoun } from '../../components/format-units.ts';
import './traffic.css';

/** The traffic view: live traffic between all participants. */
export function TrafficView() {
  useEffect(startTraffic, []);
  void timelineVersion.value;
  const isSplit = isOpen.value && selectedRecord.value !== undefined;
  return (
    <div class="wire">
      <TrafficToolbar />
      <Notices />
      <div class={isSplit ? 'traffic-split traffic-split-open' : 'traffic-split'}>
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
        <div class="traffic-notice" role="status">
          <span>
            Showing the file <b>{openedFile.value.name}</b>, not live traffic.
          </span>
          <Button small onClick={() => showFile(undefined)}>
            Back to live
          </Button>
        </div>
      ) : null}
      {missedRecords.value > 0 && !openedFile.value ? (
        <div class="traffic-notice" role="status">
          <span>
            {formatCountedNoun(missedRecords.value, 'record was', 'records were')} evicted before this page
            received them.
          </span>
          <Button small onClick={() => (missedRecords.value = 0)}>
            Dismiss
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
        title="Only card requests so far"
        actions={
          <Button onClick={() => (filterInput.value = { ...filterInput.value, isWithoutCards: false })}>
            Show card requests
          </Button>
        }
      >
        {formatCountedNoun(
          hiddenCount.value,
          'record is a card request or announcement',
          'records are card requests or announcements',
        )}
        .
      </EmptyState>
    );
  }
  if (timeline.value.length > 0) {
    return (
      <EmptyState title="No matching records">
        Change or clear the filters. New records are filtered too.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No traffic yet">
      Requests, responses and stream events between agents, gateways and brokers appear here live. Send a
      message in the chat to see them. To record other traffic, run{' '}
      <code>dragoman tap --to URL --console</code> or <code>dragoman up</code>, or import a traffic file.
    </EmptyState>
  );
}
