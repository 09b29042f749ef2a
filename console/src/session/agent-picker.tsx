import { Select } from '../components/form-fields.tsx';
import { agents, selectedAgent, labelForAgent } from './agents.ts';
import { navigate, currentRoute } from './router.ts';

/** Chooses the agent that the view speaks of; the address says which. */
export function AgentPicker({ isLabelHidden = false }: { isLabelHidden?: boolean }) {
  return (
    <Select
      label="Agent"
      isLabelHidden={isLabelHidden}
      value={selectedAgent.value?.id ?? ''}
      onValue={(id) => navigate(currentRoute.value.view, { agent: id })}
      choices={(agents.value ?? []).map((each) => ({
        value: each.id,
        text: each.isReachable ? labelForAgent(each) : `${labelForAgent(each)}, not reachable`,
      }))}
    />
  );
}
