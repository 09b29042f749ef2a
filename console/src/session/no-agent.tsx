import { LinkButton } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Spinner } from '../components/progress.tsx';
import { agents } from './agents.ts';
import { routeHref } from './router.ts';

/** Stands where a view needs an agent and there is none, or none yet. */
export function NoAgent({ title }: { title: string }) {
  if (agents.value === undefined) {
    return (
      <div class="no-agent-yet">
        <Spinner label="Asking for agents" />
      </div>
    );
  }
  return (
    <EmptyState
      title={title}
      actions={
        <LinkButton kind="main" href={routeHref('agents')}>
          Add an agent
        </LinkButton>
      }
    >
      Add an agent by its address first.
    </EmptyState>
  );
}
