import { Button } from '../../components/button.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import { selectedAgent as agent } from '../../session/agents.ts';
import type { ConformanceInput } from '../../../../src/console/console-api.ts';
import { cancelRun, startRun, currentRun, runInput } from './state.ts';

type RunOptions = Omit<ConformanceInput, 'agentId'>;

/** Sets an option, or removes it if empty. */
function change<Name extends keyof RunOptions>(name: Name, value: RunOptions[Name] | undefined): void {
  const { [name]: _, ...others } = runInput.value;
  runInput.value = value === undefined ? others : { ...others, [name]: value };
}

/** Options of a conformance run. */
export function RunForm() {
  const { level = '', fixtures = '', timeout } = runInput.value;
  const who = agent.value;
  return (
    <form
      class="conformance-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (who) void startRun(who);
      }}
    >
      <AgentPicker />
      <Select
        label="Rules"
        value={level}
        onValue={(value) => change('level', value === '' ? undefined : (value as RunOptions['level']))}
        choices={[
          { value: '', text: 'MUST, SHOULD and MAY' },
          { value: 'SHOULD', text: 'MUST and SHOULD' },
          { value: 'MUST', text: 'MUST only' },
        ]}
      />
      <Select
        label="Prompts"
        value={fixtures}
        onValue={(value) => change('fixtures', value === '' ? undefined : (value as RunOptions['fixtures']))}
        choices={[
          { value: '', text: 'examples of the skills' },
          { value: 'fx', text: 'fixture agent of Dragoman (fx)' },
          { value: 'tck', text: 'fixture agent of the A2A TCK (tck)' },
        ]}
      />
      <TextField
        label="Timeout per task (seconds)"
        type="number"
        placeholder="default"
        value={timeout === undefined ? '' : String(timeout / 1_000)}
        onValue={(text) => change('timeout', Number(text) > 0 ? Math.round(Number(text) * 1_000) : undefined)}
      />
      {currentRun.value ? (
        <Button onClick={cancelRun}>Cancel</Button>
      ) : (
        <Button kind="main" type="submit" disabled={!who}>
          Run tests
        </Button>
      )}
    </form>
  );
}
