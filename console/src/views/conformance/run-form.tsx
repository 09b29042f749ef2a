import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import { selectedAgent as agent } from '../../session/agents.ts';
import { PromptEditor } from './prompts/prompt-editor.tsx';
import { isEditorOpen, loadedAgent, loadPrompts, savedCount } from './prompts/state.ts';
import { RunOptions } from './run-options.tsx';
import { optionDrafts, parseDrafts } from './run-option-drafts.ts';
import { cancelRun, type RunInput, startRun, currentRun, runInput } from './state.ts';

/** Sets an option, or removes it if empty. */
function change<Name extends keyof RunInput>(name: Name, value: RunInput[Name] | undefined): void {
  const { [name]: _, ...others } = runInput.value;
  runInput.value = value === undefined ? others : { ...others, [name]: value };
}

/** Options of a conformance run. */
export function RunForm() {
  const { level = '', fixtures = '', timeout } = runInput.value;
  const who = agent.value;
  const hasOptions = useSignal(false);
  const messageCount = loadedAgent.value === who?.id ? savedCount.value : 0;
  const optionCount = Object.keys(parseDrafts(optionDrafts.value)).length;
  useEffect(() => {
    if (who) void loadPrompts(who.id);
  }, [who?.id]);
  return (
    <form
      class="conformance-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (who) void startRun({ agentId: who.id, ...runInput.value, ...parseDrafts(optionDrafts.value) });
      }}
    >
      <AgentPicker />
      <Select
        label="Rules"
        value={level}
        onValue={(value) => change('level', value === '' ? undefined : (value as RunInput['level']))}
        choices={[
          { value: '', text: 'MUST, SHOULD and MAY' },
          { value: 'SHOULD', text: 'MUST and SHOULD' },
          { value: 'MUST', text: 'MUST only' },
        ]}
      />
      <Select
        label="Prompts"
        value={fixtures}
        onValue={(value) => change('fixtures', value === '' ? undefined : (value as RunInput['fixtures']))}
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
      <Button disabled={!who} onClick={() => (isEditorOpen.value = true)}>
        Messages{messageCount === 0 ? '' : ` (${messageCount})`}
      </Button>
      <Button onClick={() => (hasOptions.value = true)}>
        More options{optionCount === 0 ? '' : ` (${optionCount})`}
      </Button>
      {currentRun.value ? (
        <Button onClick={() => void cancelRun()}>Cancel</Button>
      ) : (
        <Button kind="main" type="submit" disabled={!who}>
          Run tests
        </Button>
      )}
      {who ? <PromptEditor agentId={who.id} agentName={who.name} /> : null}
      <RunOptions isOpen={hasOptions.value} onClose={() => (hasOptions.value = false)} />
    </form>
  );
}
