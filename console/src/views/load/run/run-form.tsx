import { Button } from '../../../components/button.tsx';
import { Select, TextField } from '../../../components/form-fields.tsx';
import { labelForAgent } from '../../../session/agents.ts';
import { openLoadView } from '../state.ts';
import { isInProgress } from './run-progress.ts';
import {
  displayedRun,
  draft,
  localAgents,
  type RunDraft,
  startLoadRun,
  stopLoadRun,
  targetAgent,
} from './state.ts';

function change(changed: Partial<RunDraft>): void {
  draft.value = { ...draft.value, ...changed };
}

/** Inputs of a load run. */
export function LoadRunForm() {
  const { operation, loop, rate, clients, duration, warmUp, text, variant } = draft.value;
  const agent = targetAgent.value;
  const isRunning = isInProgress(displayedRun.value);
  return (
    <form
      class="load-form"
      aria-label="Load run"
      onSubmit={(event) => {
        event.preventDefault();
        if (agent && !isRunning) void startLoadRun(agent);
      }}
    >
      <Select
        label="Agent"
        value={agent?.id ?? ''}
        onValue={(id) => openLoadView({ agent: id })}
        choices={localAgents.value.map((each) => ({ value: each.id, text: labelForAgent(each) }))}
      />
      <Select
        label="Variant"
        value={variant}
        onValue={(value) => change({ variant: value })}
        choices={[
          { value: '', text: 'first of the card' },
          ...(agent?.variants ?? []).map(({ version, transport }) => ({
            value: `${version}/${transport}`,
            text: `${version} ${transport}`,
          })),
        ]}
      />
      <Select
        label="Operation"
        value={operation}
        onValue={(value) => change({ operation: value as RunDraft['operation'] })}
        choices={[
          { value: 'send', text: 'send a message' },
          { value: 'stream', text: 'stream a message' },
          { value: 'get', text: 'get a task' },
        ]}
      />
      <Select
        label="Loop"
        value={loop}
        onValue={(value) => change({ loop: value as RunDraft['loop'] })}
        choices={[
          { value: 'open', text: 'open: fixed rate' },
          { value: 'closed', text: 'closed: clients that wait' },
        ]}
      />
      {loop === 'open' ? (
        <TextField
          label="Requests per second"
          type="number"
          value={rate}
          onValue={(value) => change({ rate: value })}
          required
        />
      ) : (
        <TextField
          label="Clients"
          type="number"
          value={clients}
          onValue={(value) => change({ clients: value })}
          required
        />
      )}
      <TextField
        label="Duration (seconds)"
        type="number"
        value={duration}
        onValue={(value) => change({ duration: value })}
        required
      />
      <TextField
        label="Warm-up (seconds)"
        type="number"
        value={warmUp}
        onValue={(value) => change({ warmUp: value })}
        required
      />
      <TextField label="Message" value={text} onValue={(value) => change({ text: value })} />
      {isRunning ? (
        <Button kind="danger" onClick={() => void stopLoadRun()}>
          Stop
        </Button>
      ) : (
        <Button kind="main" type="submit" disabled={!agent}>
          Start
        </Button>
      )}
    </form>
  );
}
