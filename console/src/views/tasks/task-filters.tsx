import { useSignal } from '@preact/signals';
import { taskStates } from '../../../../src/protocol/task.ts';
import { Button } from '../../components/button.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import { updateFilter, taskFilter, reloadFirstPage } from './state.ts';

const states = [
  { value: '', text: 'Any state' },
  ...taskStates.filter((state) => state !== 'unknown').map((state) => ({ value: state, text: state })),
];

/** Filters for agent, state and context, and a field to open a task by id. */
export function TaskFilters() {
  const context = useSignal(taskFilter.value.contextId);
  const id = useSignal('');
  return (
    <form
      class="tasks-filters"
      onSubmit={(event) => {
        event.preventDefault();
        updateFilter({
          context: context.value.trim(),
          ...(id.value.trim() === '' ? {} : { task: id.value.trim() }),
        });
        id.value = '';
      }}
    >
      <AgentPicker />
      <Select
        label="State"
        value={taskFilter.value.state}
        choices={states}
        onValue={(state) => updateFilter({ state })}
      />
      <TextField
        label="Context"
        type="search"
        placeholder="any"
        value={context.value}
        onValue={(value) => {
          context.value = value;
          if (value === '') updateFilter({ context: undefined });
        }}
      />
      <TextField
        label="Open by ID"
        type="search"
        placeholder="task ID"
        value={id.value}
        onValue={(value) => (id.value = value)}
      />
      <div class="tasks-filters-end">
        <Button
          aria-pressed={taskFilter.value.isWithTests}
          title="Tasks of conformance tests and load runs"
          onClick={() => updateFilter({ tests: taskFilter.value.isWithTests ? undefined : 'show' })}
        >
          Tests
        </Button>
        <Button type="submit">Apply</Button>
        <Button kind="quiet" onClick={reloadFirstPage}>
          Refresh
        </Button>
      </div>
    </form>
  );
}
