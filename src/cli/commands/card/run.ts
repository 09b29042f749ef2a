import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import type { AgentCard, SecurityScheme } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { listSchemes } from '../../client/credentials.ts';
import { ClientError } from '../../client/client-error.ts';
import type { ClientOutput } from '../../client/output.ts';
import { type ClientSession, printWarning, withAgent } from '../../client/session.ts';

/** Shows the card of an agent. */
export async function runCardGetCommand(
  command: Command,
  { validate = false, extended = false }: { validate?: boolean; extended?: boolean },
): Promise<void> {
  await withAgent(command, async (session) => {
    const { out, flags, wireCard, description } = session;
    if (validate) await checkCard(wireCard);
    const verdict = description.verification?.result ?? 'absent';
    if (extended) {
      const card = await extendedCard(session);
      if (out.isJson) out.json(v1_0.card.write(card));
      else tellCard(card, session);
      return;
    }
    if (out.isJson) {
      // A card of the version that is spoken here is shown as it came.
      const isNewest = 'supportedInterfaces' in wireCard;
      out.json(isNewest ? wireCard : v1_0.card.write(session.card));
      if (verdict !== 'absent' || flags.verbose) process.stderr.write(`Signature: ${verdict}\n`);
      return;
    }
    tellCard(session.card, session);
    out.field('Signature', `${verdict} (${description.verification?.reason ?? 'not looked at'})`);
    if (validate) out.field('Valid', 'yes');
  });
}

async function extendedCard({ agent, card, call }: ClientSession): Promise<AgentCard> {
  if (card.capabilities.extendedAgentCard !== true)
    throw new A2AError(
      'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
      'The card of the agent does not offer an extended card',
    );
  if (listSchemes(card).length === 0)
    printWarning('the card declares no security scheme: the extended card is asked for without credentials');
  return agent.extendedCard(call);
}

async function checkCard(wire: object): Promise<void> {
  if (!('supportedInterfaces' in wire))
    throw new ClientError(
      'A2ACLI_ERR_CARD_INVALID',
      'the card has no supportedInterfaces: it is not of A2A 1.0',
      'Validate cards of versions before with dragoman conformance.',
    );
  const { cardSchemaErrors: cardFlaws } = await import('../../../conformance/checks/card/card-schema.ts');
  const flaws = cardFlaws(wire as Parameters<typeof cardFlaws>[0]);
  if (flaws.length === 0) return;
  throw new ClientError(
    'A2ACLI_ERR_CARD_INVALID',
    `the card is not valid: ${flaws.map(({ message }) => message).join('; ')}`,
    'Correct the card, or tell whoever runs the agent.',
  );
}

function tellCard(card: AgentCard, { out, description, flags }: ClientSession): void {
  const { capabilities } = card;
  out.field('Name', card.name);
  out.field('Version', card.version);
  out.field('Description', card.description);
  if (card.provider) out.field('Provider', `${card.provider.organization} ${card.provider.url ?? ''}`.trim());
  out.field('Documentation', card.documentationUrl);
  out.field('Card', description.cardUrl ?? flags.agentCard);
  out.field('Streaming', yes(capabilities.streaming));
  out.field('Push notifications', yes(capabilities.pushNotifications));
  out.field('Extended card', yes(capabilities.extendedAgentCard));
  for (const { uri, required } of capabilities.extensions ?? [])
    out.field('Extension', required ? `${uri} (required)` : uri);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.interfaces)
    out.field(
      'Interface',
      `${protocolBinding} ${protocolVersion} ${url}${tenant === undefined ? '' : ` tenant ${tenant}`}`,
    );
  out.field('Selected', `${description.transport} ${description.version} ${description.url}`);
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {}))
    out.field('Security', `${name}: ${told(scheme)}`);
  out.field('Input modes', card.defaultInputModes.join(', '));
  out.field('Output modes', card.defaultOutputModes.join(', '));
  tellSkills(card, out, flags.verbose);
}

function tellSkills({ skills }: AgentCard, out: ClientOutput, isVerbose: boolean): void {
  for (const { id, name, description, tags, examples } of skills) {
    out.field('Skill', `${id}: ${name}${description === '' ? '' : ` - ${description}`}`);
    if (!isVerbose) continue;
    out.field('Tags', tags.join(', '));
    for (const example of examples ?? []) out.field('Example', example);
  }
}

function yes(flag: boolean | undefined): string {
  return flag === true ? 'yes' : 'no';
}

function told(scheme: SecurityScheme): string {
  switch (scheme.type) {
    case 'apiKey':
      return `API key in the ${scheme.location} ${scheme.name}`;
    case 'http':
      return `HTTP ${scheme.scheme}`;
    case 'oauth2':
      return `OAuth 2 (${Object.keys(scheme.flows).join(', ')})`;
    case 'openIdConnect':
      return `OpenID Connect ${scheme.openIdConnectUrl}`;
    case 'mutualTLS':
      return 'mutual TLS';
  }
}
