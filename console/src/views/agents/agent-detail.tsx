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
import { LoginDialog } from './login/login-dialog.tsx';
import { cards, removeSelectedAgent, isRaw, loadCards, openDraft, removeError } from './state.ts';

/** One agent: name, variants, and its cards of all versions side by side. */
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
          {entry.loginFlows ? <LoginDialog entry={entry} flows={entry.loginFlows} /> : null}
          {entry.isRemovable ? (
            <Button kind="danger" onClick={() => void removeSelectedAgent(entry.id)}>
              Remove
            </Button>
          ) : null}
        </div>
      </header>
      {entry.description ? <p class="agents-description">{entry.description}</p> : null}
      <Facts entry={entry} />
      {removeError.value ? <ErrorNote error={removeError.value} /> : null}
      {entry.isReachable ? null : (
        <ErrorNote error={{ reason: 'NOT_REACHABLE', message: entry.error ?? 'The agent does not respond.' }}>
          <Button small onClick={() => openDraft(entry.url)}>
            Reconnect
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
      {entry.variants.map((variant, at) => (
        <span key={`${variant.version}/${variant.transport}`} title={at === 0 ? 'default' : undefined}>
          <VariantBadge version={variant.version} transport={variant.transport} />
        </span>
      ))}
      {entry.isReachable ? (
        <Badge tone={entry.isStreaming ? 'green' : 'grey'}>
          {entry.isStreaming ? 'streams' : 'no streaming'}
        </Badge>
      ) : null}
      {entry.requiredCredentials.map((scheme) => (
        <Badge key={scheme} tone="violet">
          requires {scheme}
        </Badge>
      ))}
      {entry.hasCredentials ? <Badge tone="teal">credentials set</Badge> : null}
    </div>
  );
}

function CardsOf({ entry }: { entry: AgentEntry }) {
  const state = cards.value;
  if (state?.agentId !== entry.id || (!state.cards && !state.error)) return <Spinner label="Loading cards" />;
  if (state.error) return <ErrorNote error={state.error} />;
  const shown = state.cards?.cards ?? [];
  if (shown.length === 0) {
    if (!entry.isReachable) return null;
    return (
      <EmptyState title="No card found">
        Checked /.well-known/agent-card.json and /.well-known/agent.json.
      </EmptyState>
    );
  }
  return (
    <>
      <div class="agents-cards-bar">
        <h3>{shown.length === 1 ? 'Card' : `Cards in ${shown.length} versions`}</h3>
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
