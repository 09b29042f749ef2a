import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import type { AgentCard, SecurityScheme } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { listSchemes } from '../../client/credentials.ts';
import { ClientError } from '../../client/client-error.ts';
import type { ClientOutput } from '../../client/output.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { printWarning } from '../../terminal/print-error.ts';

/** Runs `dragoman card get`. */
export async function runCardGetCommand(
  command: Command,
  { validate = false, extended = false }: { validate?: boolean; extended?: boolean },
): Promise<void> {
  await withAgent(
    command,
    async (session) => {
      const { out, flags, wireCard, description } = session;
      if (validate) await validateCard(wireCard);
      const signature = description.verification?.result ?? 'absent';
      if (extended) {
        const card = await fetchExtendedCard(session);
        if (out.isJson) out.json(v1_0.card.write(card));
        else printCard(card, session);
        return;
      }
      if (out.isJson) {
        // A 1.0 card is printed as received.
        const isNewest = 'supportedInterfaces' in wireCard;
        out.json(isNewest ? wireCard : v1_0.card.write(session.card));
        if (signature !== 'absent' || flags.verbose) process.stderr.write(`Signature: ${signature}\n`);
        return;
      }
      printCard(session.card, session);
      out.field('Signature', `${signature} (${description.verification?.reason ?? 'not checked'})`);
      if (validate) out.field('Valid', 'yes');
    },
    { onlyCard: !extended },
  );
}

async function fetchExtendedCard({ agent, card, call }: ClientSession): Promise<AgentCard> {
  if (card.capabilities.extendedAgentCard !== true)
    throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The agent has no extended card');
  if (listSchemes(card).length === 0)
    printWarning('The card declares no security scheme; requesting the extended card without credentials');
  return agent.extendedCard(call);
}

async function validateCard(wire: object): Promise<void> {
  if (!('supportedInterfaces' in wire))
    throw new ClientError(
      'A2ACLI_ERR_CARD_INVALID',
      'Not an A2A 1.0 card: supportedInterfaces is missing',
      'Validate cards of earlier versions with dragoman conformance.',
    );
  const { cardSchemaErrors } = await import('../../../conformance/checks/card/card-schema.ts');
  const errors = cardSchemaErrors(wire as Parameters<typeof cardSchemaErrors>[0]);
  if (errors.length === 0) return;
  throw new ClientError(
    'A2ACLI_ERR_CARD_INVALID',
    `Invalid card: ${errors.map(({ message }) => message).join('; ')}`,
    'Fix the card, or report it to the operator of the agent.',
  );
}

function printCard(card: AgentCard, { out, description, flags }: ClientSession): void {
  const { capabilities } = card;
  out.field('Name', card.name);
  out.field('Version', card.version);
  out.field('Description', card.description);
  if (card.provider) out.field('Provider', `${card.provider.organization} ${card.provider.url ?? ''}`.trim());
  out.field('Documentation', card.documentationUrl);
  out.field('Card', description.cardUrl ?? flags.agentCard);
  out.field('Streaming', yesNo(capabilities.streaming));
  out.field('Push notifications', yesNo(capabilities.pushNotifications));
  out.field('Extended card', yesNo(capabilities.extendedAgentCard));
  for (const { uri, required } of capabilities.extensions ?? [])
    out.field('Extension', required ? `${uri} (required)` : uri);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.interfaces)
    out.field(
      'Interface',
      `${protocolBinding} ${protocolVersion} ${url}${tenant === undefined ? '' : ` tenant ${tenant}`}`,
    );
  out.field('Selected', `${description.transport} ${description.version} ${description.url}`);
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {}))
    out.field('Security', `${name}: ${formatScheme(scheme)}`);
  out.field('Input modes', card.defaultInputModes.join(', '));
  out.field('Output modes', card.defaultOutputModes.join(', '));
  printSkills(card, out, flags.verbose);
}

function printSkills({ skills }: AgentCard, out: ClientOutput, isVerbose: boolean): void {
  for (const { id, name, description, tags, examples } of skills) {
    out.field('Skill', `${id}: ${name}${description === '' ? '' : ` - ${description}`}`);
    if (!isVerbose) continue;
    out.field('Tags', tags.join(', '));
    for (const example of examples ?? []) out.field('Example', example);
  }
}

function yesNo(flag: boolean | undefined): string {
  return flag === true ? 'yes' : 'no';
}

function formatScheme(scheme: SecurityScheme): string {
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
