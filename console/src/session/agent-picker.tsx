import { Select } from '../components/form-fields.tsx';
import { agents, selectedAgent, labelForAgent } from './agents.ts';
import { navigate, currentRoute } from './router.ts';

/** Selects the agent of the current view, stored in the page URL. */
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
