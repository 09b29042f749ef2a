import type { AgentCard, SecurityScheme } from '../../../../src/protocol/card.ts';
import { SafeLink } from '../../components/links/safe-link.tsx';

function wordsOf(scheme: SecurityScheme): string {
  switch (scheme.type) {
    case 'apiKey':
      return `API key in the ${scheme.location} ${scheme.name}`;
    case 'http':
      return `HTTP ${scheme.scheme}${scheme.bearerFormat ? ` (${scheme.bearerFormat})` : ''}`;
    case 'oauth2':
      return `OAuth 2: ${Object.keys(scheme.flows).join(', ')}`;
    case 'openIdConnect':
      return 'OpenID Connect';
    case 'mutualTLS':
      return 'mutual TLS';
  }
}

/** Security schemes and requirements of a card. */
export function Security({ card }: { card: AgentCard }) {
  const schemes = Object.entries(card.securitySchemes ?? {});
  const requirements = card.securityRequirements ?? [];
  if (schemes.length === 0) return <span class="agents-none">no authentication required</span>;
  return (
    <ul class="agents-schemes">
      {schemes.map(([name, scheme]) => (
        <li key={name}>
          <code>{name}</code> {wordsOf(scheme)}{' '}
          {scheme.type === 'openIdConnect' ? <SafeLink href={scheme.openIdConnectUrl} /> : null}
          {scheme.description ? <div class="agents-small">{scheme.description}</div> : null}
        </li>
      ))}
      {requirements.length > 0 ? (
        <li class="agents-small">
          requires{' '}
          {requirements
            .map((alternative) =>
              Object.entries(alternative)
                .map(([name, scopes]) => (scopes.length > 0 ? `${name} (${scopes.join(' ')})` : name))
                .join(' and '),
            )
            .join(', or ')}
        </li>
      ) : null}
    </ul>
  );
}
