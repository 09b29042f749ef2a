import { Select } from '../components/form-fields.tsx';
import { agents, chosen, labelOf } from './agents.ts';
import { go, place } from './router.ts';

/** Chooses the agent that the view speaks of; the address says which. */
export function AgentPicker({ isLabelHidden = false }: { isLabelHidden?: boolean }) {
  return (
    <Select
      label="Agent"
      isLabelHidden={isLabelHidden}
      value={chosen.value?.id ?? ''}
      onValue={(id) => go(place.value.view, { agent: id })}
      choices={(agents.value ?? []).map((each) => ({
        value: each.id,
        text: each.isReachable ? labelOf(each) : `${labelOf(each)}, not reachable`,
      }))}
    />
  );
}
