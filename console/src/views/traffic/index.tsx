import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Detail } from './record-detail.tsx';
import { Diagram } from './diagram/sequence-diagram.tsx';
import { Splitter } from './splitter.tsx';
import { begin, hidden, isOpen, look, missed, opened, passage, tick, timeline, wish } from './state.ts';
import { Toolbar } from './traffic-toolbar.tsx';
import { counted } from './labels.ts';
import './traffic.css';

/** Everything that passes between the parties, as it passes. */
export function WireView() {
  useEffect(begin, []);
  void tick.value;
  const isSplit = isOpen.value && passage.value !== undefined;
  return (
    <div class="wire">
      <Toolbar />
      <Notices />
      <div class={isSplit ? 'wire-split wire-split-open' : 'wire-split'}>
        {timeline.value.shown.length === 0 ? <Nothing /> : <Diagram />}
        {isSplit ? <Splitter /> : null}
        <Detail />
      </div>
    </div>
  );
}

function Notices() {
  return (
    <>
      {opened.value ? (
        <div class="wire-notice" role="status">
          <span>
            This is the file <b>{opened.value.name}</b>, not what passes now.
          </span>
          <Button small onClick={() => look(undefined)}>
            Back to live
          </Button>
        </div>
      ) : null}
      {missed.value > 0 && !opened.value ? (
        <div class="wire-notice" role="status">
          <span>
            {counted(missed.value, 'passage was', 'passages were')} forgotten before this page read them.
          </span>
          <Button small onClick={() => (missed.value = 0)}>
            All right
          </Button>
        </div>
      ) : null}
    </>
  );
}

function Nothing() {
  if (timeline.value.length > 0 && hidden.value === timeline.value.length) {
    return (
      <EmptyState
        title="Nothing but cards has passed"
        actions={
          <Button onClick={() => (wish.value = { ...wish.value, isWithoutCards: false })}>Show cards</Button>
        }
      >
        {counted(hidden.value, 'passage fetched or announced a card', 'passages fetched or announced cards')}.
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
