import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Spinner } from '../../components/progress.tsx';
import { agents, selectedAgent, refreshAgents } from '../../session/agents.ts';
import { AddDialog } from './add-dialog.tsx';
import { AgentDetail } from './agent-detail.tsx';
import { AgentList } from './agent-list.tsx';
import { openDraft } from './state.ts';
import './agents.css';

/** The agents view: all agents, and the cards of one. */
export function AgentsView() {
  useEffect(() => {
    if (agents.peek() !== undefined) void refreshAgents().catch(() => undefined);
  }, []);
  return (
    <div class="agents">
      <Body />
      <AddDialog />
    </div>
  );
}

function Body() {
  if (agents.value === undefined) {
    return (
      <div class="agents-wait">
        <Spinner label="Loading agents" />
      </div>
    );
  }
  if (!selectedAgent.value) {
    return (
      <EmptyState
        title="No agents yet"
        actions={
          <Button kind="main" onClick={() => openDraft()}>
            Add an agent
          </Button>
        }
      >
        Add an agent by its URL. Its card lists the A2A versions and transports that it supports.
      </EmptyState>
    );
  }
  return (
    <>
      <AgentList entries={agents.value} chosenId={selectedAgent.value.id} />
      <AgentDetail key={selectedAgent.value.id} entry={selectedAgent.value} />
    </>
  );
}
