import type { ComponentChildren } from 'preact';
import type { CardFinding, VersionedCard } from '../../../../src/console/console-api.ts';
import type { AgentCard } from '../../../../src/protocol/card.ts';
import { Badge, VersionBadge, VariantBadge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { SafeLink } from '../../components/links/safe-link.tsx';
import { FindingMarks } from './finding-marks.tsx';
import { findingsAt, unplacedFindings, fieldPaths } from './findings-by-field.ts';
import { MediaTypes } from './media-types.tsx';
import { Security } from './security.tsx';
import { Skills } from './skills.tsx';

/** One card, decoded or as published, with its findings. */
export function CardView({ shown, isRaw }: { shown: VersionedCard; isRaw: boolean }) {
  const { version, url, published: wire, card, findings } = shown;
  return (
    <article class="agents-card" aria-label={`Card of version ${version}`}>
      <header class="agents-card-bar">
        <VersionBadge version={version} />
        <code class="agents-card-url">{url}</code>
        <Verdict findings={findings} />
      </header>
      <div class="agents-card-body">
        {isRaw || !card ? (
          <>
            <FindingMarks findings={findings} />
            <div class="agents-raw">
              <CopyButton text={() => JSON.stringify(wire, null, 2)} />
              <JsonView value={wire} label={`Card of version ${version} as published`} />
            </div>
          </>
        ) : (
          <Rendered card={card} findings={findings} />
        )}
      </div>
    </article>
  );
}

function Verdict({ findings }: { findings: readonly CardFinding[] }) {
  if (findings.length === 0) {
    return (
      <Badge tone="green" dot>
        no findings
      </Badge>
    );
  }
  const errors = findings.filter(({ level }) => level === 'error').length;
  return (
    <Badge tone={errors > 0 ? 'red' : 'amber'} dot>
      {findings.length} {findings.length === 1 ? 'finding' : 'findings'}
    </Badge>
  );
}

interface RowProps {
  label: string;
  findings: readonly CardFinding[];
  children: ComponentChildren;
}

function Row({ label, findings, children }: RowProps) {
  return (
    <div class={findings.length > 0 ? 'agents-row agents-row-marked' : 'agents-row'}>
      <dt>{label}</dt>
      <dd>
        {children}
        <FindingMarks findings={findings} />
      </dd>
    </div>
  );
}

function Rendered({ card, findings }: { card: AgentCard; findings: readonly CardFinding[] }) {
  const at = (field: keyof typeof fieldPaths) => findingsAt(findings, ...fieldPaths[field]);
  return (
    <>
      <FindingMarks findings={unplacedFindings(findings)} />
      <dl class="agents-rows">
        <Row label="Name" findings={at('name')}>
          <strong>{card.name}</strong>
        </Row>
        <Row label="Description" findings={at('description')}>
          <span class="agents-text">{card.description}</span>
        </Row>
        <Row label="Version" findings={at('version')}>
          {card.version}
        </Row>
        {card.provider || at('provider').length > 0 ? (
          <Row label="Provider" findings={at('provider')}>
            {card.provider?.organization}{' '}
            {card.provider?.url === undefined ? null : <SafeLink href={card.provider.url} />}
          </Row>
        ) : null}
        {card.documentationUrl !== undefined || at('links').length > 0 ? (
          <Row label="Documentation" findings={at('links')}>
            {card.documentationUrl === undefined ? null : <SafeLink href={card.documentationUrl} />}
          </Row>
        ) : null}
        <Row label="Interfaces" findings={at('interfaces')}>
          <Interfaces card={card} />
        </Row>
        <Row label="Capabilities" findings={at('capabilities')}>
          <Capabilities card={card} />
        </Row>
        <Row label="Input modes" findings={at('takes')}>
          <MediaTypes modes={card.defaultInputModes} />
        </Row>
        <Row label="Output modes" findings={at('gives')}>
          <MediaTypes modes={card.defaultOutputModes} />
        </Row>
        <Row label="Security" findings={at('security')}>
          <Security card={card} />
        </Row>
        {card.signatures || at('signatures').length > 0 ? (
          <Row label="Signatures" findings={at('signatures')}>
            {card.signatures?.length ?? 0}
          </Row>
        ) : null}
      </dl>
      <Skills skills={card.skills} findings={findings} />
    </>
  );
}

/** Interface URLs in order of preference, each with its variants. */
function Interfaces({ card }: { card: AgentCard }) {
  const places = [...new Set(card.interfaces.map(({ url }) => url))];
  return (
    <ul class="agents-interfaces">
      {places.map((url) => (
        <li key={url}>
          <code>{url}</code>
          <span class="agents-badges">
            {card.interfaces
              .filter((each) => each.url === url)
              .map((each, at) => (
                <VariantBadge key={at} version={each.protocolVersion} transport={each.protocolBinding} />
              ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Capabilities({ card: { capabilities } }: { card: AgentCard }) {
  const named = [
    ['streaming', capabilities.streaming],
    ['push notifications', capabilities.pushNotifications],
    ['extended card', capabilities.extendedAgentCard],
    ['state history', capabilities.stateTransitionHistory],
  ] as const;
  const can = named.filter(([, has]) => has);
  return (
    <span class="agents-badges">
      {can.map(([name]) => (
        <Badge key={name} tone="green">
          {name}
        </Badge>
      ))}
      {(capabilities.extensions ?? []).map((extension, at) => (
        <Badge key={at} tone={extension.required ? 'amber' : 'grey'} title={extension.description}>
          {extension.uri}
          {extension.required ? ' (required)' : ''}
        </Badge>
      ))}
      {can.length === 0 && !capabilities.extensions?.length ? <span class="agents-none">none</span> : null}
    </span>
  );
}
