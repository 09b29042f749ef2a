import type { AgentEntry } from '../../../../src/console/console-api.ts';
import { Badge, VariantBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { routeHref } from '../../session/router.ts';
import { openDraft } from './state.ts';

export function AgentList({ entries, chosenId }: { entries: readonly AgentEntry[]; chosenId: string }) {
  return (
    <aside class="agents-side" aria-label="Agents">
      <div class="agents-side-bar">
        <h2>Agents</h2>
        <Button small onClick={() => openDraft()}>
          Add
        </Button>
      </div>
      <ul class="agents-list">
        {entries.map((entry) => (
          <li key={entry.id}>
            <a
              class="agents-entry"
              href={routeHref('agents', { agent: entry.id })}
              aria-current={entry.id === chosenId ? 'true' : undefined}
            >
              <span class="agents-entry-name">
                <span
                  class={entry.isReachable ? 'agents-dot' : 'agents-dot agents-dot-off'}
                  aria-hidden="true"
                />
                {entry.name}
              </span>
              <span class="agents-entry-url">{entry.url}</span>
              <span class="agents-badges">
                {entry.isReachable ? (
                  entry.variants.map((variant) => (
                    <VariantBadge
                      key={`${variant.version}/${variant.transport}`}
                      version={variant.version}
                      transport={variant.transport}
                    />
                  ))
                ) : (
                  <Badge tone="red" dot>
                    not reachable
                  </Badge>
                )}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </aside>
  );
}
