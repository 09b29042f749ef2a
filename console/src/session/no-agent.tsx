import { LinkButton } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Spinner } from '../components/progress.tsx';
import { agents } from './agents.ts';
import { routeHref } from './router.ts';

/** Placeholder for views that need an agent. */
export function NoAgent({ title }: { title: string }) {
  if (agents.value === undefined) {
    return (
      <div class="no-agent-yet">
        <Spinner label="Loading agents" />
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
      Add an agent by its URL first.
    </EmptyState>
  );
}
