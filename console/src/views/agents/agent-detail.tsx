import { useEffect } from 'preact/hooks';
import type { AgentEntry } from '../../../../src/console/console-api.ts';
import { Badge, VariantBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Toggle } from '../../components/form-fields.tsx';
import { Spinner } from '../../components/progress.tsx';
import { labelForAgent } from '../../session/agents.ts';
import { routeHref } from '../../session/router.ts';
import { CardView } from './card-view.tsx';
import { cards, removeSelectedAgent, isRaw, loadCards, openDraft, removeError } from './state.ts';

/** One agent: who it is, how to reach it, and its cards of every version side by side. */
export function AgentDetail({ entry }: { entry: AgentEntry }) {
  useEffect(() => void loadCards(entry.id), [entry.id, entry.isReachable]);
  return (
    <section class="agents-detail" aria-label={labelForAgent(entry)}>
      <header class="agents-head">
        <div class="agents-title">
          <h2>{entry.name}</h2>
          <span class="agents-url">
            <code>{entry.url}</code>
            <CopyButton text={entry.url} />
          </span>
        </div>
        <div class="agents-actions">
          <LinkButton kind="main" href={routeHref('chat', { agent: entry.id })}>
            Chat
          </LinkButton>
          <LinkButton href={routeHref('tasks', { agent: entry.id })}>Tasks</LinkButton>
          <LinkButton href={routeHref('conformance', { agent: entry.id })}>Conformance</LinkButton>
          {entry.isRemovable ? (
            <Button kind="danger" onClick={() => void removeSelectedAgent(entry.id)}>
              Remove
            </Button>
          ) : null}
        </div>
      </header>
      {entry.description ? <p class="agents-description">{entry.description}</p> : null}
      <Facts entry={entry} />
      {removeError.value ? <ErrorNote trouble={removeError.value} /> : null}
      {entry.isReachable ? null : (
        <ErrorNote
          trouble={{ reason: 'NOT_REACHABLE', message: entry.problem ?? 'This agent does not answer.' }}
        >
          <Button small onClick={() => openDraft(entry.url)}>
            Connect again
          </Button>
        </ErrorNote>
      )}
      <CardsOf entry={entry} />
    </section>
  );
}

function Facts({ entry }: { entry: AgentEntry }) {
  return (
    <div class="agents-badges">
      {entry.ways.map((way, at) => (
        <span key={`${way.version}/${way.transport}`} title={at === 0 ? 'taken by default' : undefined}>
          <VariantBadge version={way.version} transport={way.transport} />
        </span>
      ))}
      {entry.isReachable ? (
        <Badge tone={entry.isStreaming ? 'green' : 'grey'}>
          {entry.isStreaming ? 'streams' : 'no streams'}
        </Badge>
      ) : null}
      {entry.asksFor.map((scheme) => (
        <Badge key={scheme} tone="violet">
          asks for {scheme}
        </Badge>
      ))}
      {entry.hasCredentials ? <Badge tone="teal">credentials given</Badge> : null}
    </div>
  );
}

function CardsOf({ entry }: { entry: AgentEntry }) {
  const state = cards.value;
  if (state?.agentId !== entry.id || (!state.cards && !state.trouble))
    return <Spinner label="Reading cards" />;
  if (state.trouble) return <ErrorNote trouble={state.trouble} />;
  const shown = state.cards?.cards ?? [];
  if (shown.length === 0) {
    if (!entry.isReachable) return null;
    return (
      <EmptyState title="No card was found">Neither at its new nor at its old well-known address.</EmptyState>
    );
  }
  return (
    <>
      <div class="agents-cards-bar">
        <h3>{shown.length === 1 ? 'Its card' : `Its cards in ${shown.length} versions`}</h3>
        <Toggle label="As published" isOn={isRaw.value} onTurn={(isOn) => (isRaw.value = isOn)} />
      </div>
      <div class="agents-cards">
        {shown.map((card) => (
          <CardView key={`${card.version} ${card.url}`} shown={card} isRaw={isRaw.value} />
        ))}
      </div>
    </>
  );
}
