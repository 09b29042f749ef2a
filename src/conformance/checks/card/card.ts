import { isJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import {
  requiredExtensions,
  createDriver,
  parseVersionName,
  withDeclaredExtensions,
} from '../../discovery/card-variants.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { errorMismatch } from '../../drivers/error-response.ts';
import type { ProtocolDriver } from '../../drivers/protocol-driver.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';
import { cardCheck, fetchCard1_0 } from './card-check.ts';
import { cardSchemaErrors, findSecrets } from './card-schema.ts';
import { isLoopbackUrl } from '../push/loopback.ts';

/** Flaws by their tag: tag, requirements, section, level, sentence, remedy. */
const shapes: readonly (readonly [string, readonly string[], string, RequirementLevel, string, string])[] = [
  [
    'members',
    ['MODEL-012', 'CARD-011'],
    '4.4.1',
    'MUST',
    'A card has name, description, version, supportedInterfaces, capabilities, default modes and skills.',
    'Publish every required member of AgentCard, with the type that it has there.',
  ],
  [
    'skills',
    ['MODEL-013'],
    '4.4.5',
    'MUST',
    'A skill has id, name, description and tags.',
    'Publish all four for each skill.',
  ],
  [
    'interfaces',
    ['MODEL-014', 'CARD-002'],
    '4.4.6',
    'MUST',
    'An interface has an absolute url, a protocolBinding and a protocolVersion.',
    'Publish all three for each interface.',
  ],
  [
    'binding',
    ['CARD-002', 'MODEL-014'],
    '8.3.1',
    'MUST',
    'The bindings of the protocol are named JSONRPC, HTTP+JSON and GRPC.',
    'Write the names as the protocol has them.',
  ],
  [
    'patch',
    ['VER-001'],
    '3.6',
    'SHOULD',
    'The version of an interface has no patch number.',
    'Write 1.0, not 1.0.1.',
  ],
  [
    'capabilities',
    ['MODEL-012'],
    '4.4.3',
    'MUST',
    'Capabilities are true or false, and extensions have a uri.',
    'Write true or false, and a uri for each extension.',
  ],
  [
    'provider',
    ['MODEL-012'],
    '4.4.2',
    'MUST',
    'A provider has an organization and a url, and addresses are absolute.',
    'Publish both, or no provider at all.',
  ],
  [
    'schemes',
    ['MODEL-015'],
    '4.5.1',
    'MUST',
    'A security scheme is an object with one member that names its type, and has what the type requires.',
    'Write {"httpAuthSecurityScheme": {"scheme": "bearer"}} and the like.',
  ],
  [
    'flows',
    ['PROTO-001', 'PROTO-002'],
    '4.5.7',
    'MUST',
    'An OAuth scheme has exactly one flow, with absolute addresses and scopes by name.',
    'Publish one flow for each scheme, with all that it requires.',
  ],
  [
    'requirements',
    ['MODEL-015', 'MODEL-012'],
    '4.4.1',
    'MUST',
    'Security requirements name schemes that the card declares.',
    'Write {"schemes": {"name": {"list": []}}} with names of securitySchemes.',
  ],
  [
    'camel',
    ['JSON-001'],
    '5.5',
    'MUST',
    'Names of members of a card are in camelCase.',
    'Write supportedInterfaces, not supported_interfaces.',
  ],
  [
    'empty',
    ['JSON-010', 'MODEL-012', 'MODEL-013'],
    '5.7',
    'SHOULD',
    'Lists that a card requires have at least one element.',
    'Publish at least one skill, tag and mode.',
  ],
  [
    'unique',
    ['MODEL-013'],
    '4.4.5',
    'SHOULD',
    'The ids of skills and the URIs of extensions are there once.',
    'Give each skill an id of its own.',
  ],
  ['modes', ['MODEL-012'], '4.4.1', 'SHOULD', 'Modes are media types.', 'Write text/plain, not text.'],
];

/** What the card of 1.0 says: sections 4.4, 4.5, 8 and 14.3. */
export const cardChecks = defineChecks([
  ...shapes.map(([tag, requirements, section, level, sentence, remedy]) =>
    cardCheck(`card.${tag}`, requirements, section, level, sentence, remedy, (probe) => {
      for (const flaw of cardSchemaErrors(probe.card))
        if (flaw.tag === tag) probe.warn(flaw.message, { exchanges: [] });
    }),
  ),
  cardCheck(
    'card.found',
    ['CARD-001', 'CARD-011'],
    '8.2',
    'MUST',
    'The card is at /.well-known/agent-card.json.',
    'Serve the card of 1.0 there, with status 200.',
    async (probe) => {
      const { cardUrl } = probe.context;
      const isOld = cardUrl.endsWith('/.well-known/agent.json');
      const url = isOld ? cardUrl.replace(/agent\.json$/, 'agent-card.json') : cardUrl;
      const exchange = await probe.sendRaw({
        method: 'GET',
        url,
        headers: { accept: 'application/json', 'a2a-version': '1.0' },
      });
      const card = parseJsonOrUndefined(exchange.body);
      probe.expect(
        exchange.status === 200 && isJsonObject(card),
        'There is no card at the well-known place',
        {
          expected: 'HTTP 200 with a JSON object',
          actual: `HTTP ${exchange.status} ${exchange.body.slice(0, 80)}`,
        },
      );
      probe.expect(
        isJsonObject(card) && Array.isArray(card.supportedInterfaces),
        'What is at the well-known place is no card of 1.0',
      );
    },
  ),
  cardCheck(
    'card.json',
    ['CARD-011'],
    '14.3',
    'SHOULD',
    'The card is sent as JSON.',
    'Send Content-Type: application/json.',
    async (probe) => {
      const { headers } = await fetchCard1_0(probe);
      const type = headers['content-type'] ?? 'none';
      probe.expect(/^application\/(json|a2a\+json)\b/i.test(type), 'The card has another media type', {
        expected: 'application/json',
        actual: type,
      });
    },
  ),
  cardCheck(
    'card.public',
    ['CARD-001'],
    '8.2',
    'SHOULD',
    'The card can be read by anybody, because it says how to log in.',
    'Let requests for the card pass without credentials.',
    async (probe) => {
      const { status } = await fetchCard1_0(probe.withCredentials({}));
      probe.expect(status === 200, 'Nobody in particular cannot read the card', {
        expected: 'HTTP 200',
        actual: `HTTP ${status}`,
      });
    },
  ),
  cardCheck(
    'card.secrets',
    ['CARD-013'],
    '14.3',
    'SHOULD',
    'The card holds no credentials.',
    'Take passwords, keys and tokens out of the card, and replace them: they are known now.',
    (probe) => {
      const { signatures: _signatures, ...card } = probe.card;
      for (const at of findSecrets(card)) probe.warn(`${at} looks like a secret`, { exchanges: [] });
    },
  ),
  cardCheck(
    'card.https',
    ['AUTH-001', 'CARD-014', 'SEC-001'],
    '7.1',
    'SHOULD',
    'Interfaces that are not on this machine are reached over https.',
    'Serve over https, and publish https addresses.',
    (probe) => {
      const urls = interfacesOf(probe).map(({ url }) => url);
      const far = [...urls, probe.context.cardUrl].filter((url) => !isLoopbackUrl(url));
      if (far.length === 0) throw new NotApplicableError('Everything is on this machine.');
      for (const url of far)
        if (url.startsWith('http:')) probe.warn(`${url} is not encrypted`, { exchanges: [] });
    },
  ),
  cardCheck(
    'card.truthful',
    ['CARD-002', 'CARD-004', 'MODEL-014'],
    '8.3.1',
    'MUST',
    'Every interface of the card speaks the binding and the version that the card says.',
    'Publish only interfaces that are served, with their own addresses.',
    async (probe) => {
      const tried = new Set<string>();
      for (const { url, binding, version, tenant } of interfacesOf(probe)) {
        const spoken = parseVersionName(version);
        const isKnown = binding === 'JSONRPC' || binding === 'HTTP+JSON';
        if (!isKnown || spoken === undefined || tried.has(`${url} ${binding} ${spoken}`)) continue;
        tried.add(`${url} ${binding} ${spoken}`);
        const driver = withDeclaredExtensions(
          createDriver(spoken, binding, url, tenant),
          requiredExtensions(probe.card),
        );
        const wrong = await lieOf(probe.withDriver(driver));
        if (wrong !== undefined) probe.warn(`${binding} ${version} at ${url}: ${wrong}`);
      }
    },
  ),
  cardCheck(
    'card.undeclared',
    ['BIND-005'],
    '5.2',
    'MUST',
    'Every binding that works is in the card.',
    'Add the interface to supportedInterfaces, or do not serve it.',
    async (probe) => {
      const declared = new Set(interfacesOf(probe).map(({ binding }) => binding));
      const urls = [...new Set(interfacesOf(probe).map(({ url }) => url))].filter((url) =>
        url.startsWith('http'),
      );
      const undeclared = (['JSONRPC', 'HTTP+JSON'] as const).filter((each) => !declared.has(each));
      for (const transport of undeclared)
        for (const url of urls)
          if (await works(probe.withDriver(createDriver('1.0', transport, url))))
            probe.warn(`${transport} works at ${url}, and the card does not say so`);
    },
  ),
]);

interface Declared {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant: string | undefined;
}

function interfacesOf(probe: Probe): Declared[] {
  return (asList(probe.card.supportedInterfaces) ?? []).filter(isJsonObject).map((each) => ({
    url: asText(each.url) ?? '',
    binding: asText(each.protocolBinding) ?? '',
    version: asText(each.protocolVersion) ?? '',
    tenant: asText(each.tenant),
  }));
}

/** Says how an interface does not speak as it is declared; undefined when it does. */
async function lieOf(probe: Probe): Promise<string | undefined> {
  const unknown = await probe.call('get', { id: crypto.randomUUID() });
  if (isGuarded(unknown.exchange)) return undefined;
  if (!unknown.error) return `asked for an unknown task, it answered ${describeResponse(unknown)}`;
  const wrong = errorMismatch(unknown.error, 'TaskNotFound', probe.driver.transport);
  if (wrong !== undefined) return `asked for an unknown task, it should answer with ${wrong}`;
  if (!isJsonObject(parseJsonOrUndefined(unknown.exchange.body)))
    return 'asked for an unknown task, it answered with no JSON of the protocol';
  const response = await probe.call('send', { message: probe.context.prompts.anyPrompt() });
  const isAnswer =
    probe.driver.decodeTask(response.result) !== undefined ||
    probe.driver.decodeMessage(response.result) !== undefined;
  return isAnswer ? undefined : `a message was answered with ${describeResponse(response)}`;
}

function isGuarded({ status }: HttpExchange): boolean {
  return status === 401 || status === 403;
}

/** True when an interface that nobody declared gives a task that there is. */
async function works(probe: Probe): Promise<boolean> {
  const response = await probe.call('get', { id: crypto.randomUUID() });
  return isTaskNotFound(response.error, probe.driver);
}

function isTaskNotFound(
  error: Parameters<typeof errorMismatch>[0] | undefined,
  { transport }: ProtocolDriver,
): boolean {
  if (!error || errorMismatch(error, 'TaskNotFound', transport) !== undefined) return false;
  return transport === 'JSONRPC' || error.reason === 'TASK_NOT_FOUND';
}
