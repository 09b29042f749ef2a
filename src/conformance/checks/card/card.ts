import { checkedTransports, type Citation, must, should } from '../../rule-model.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import {
  requiredExtensions,
  createDriver,
  endpointUrl,
  parseVersionName,
  withDeclaredExtensions,
} from '../../discovery/card-variants.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { errorMismatch } from '../../drivers/error-response.ts';
import { asText, objectsOf } from '../../drivers/normalized-views.ts';
import { grpcOrigin } from '../../discovery/grpc-address.ts';
import { authStatus } from '../../wire/http-exchange.ts';
import { expectCard, expectPublic, fetchCard1_0 } from './card-check.ts';
import { cardSchemaErrors, findSecrets } from './card-schema.ts';
import { isLoopbackUrl } from '../push/loopback.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Citation, sentence and remedy of the rules for schema errors, by error tag. */
const schemaRules: Readonly<Record<string, readonly [Citation, string, string]>> = {
  members: [
    must('4.4.1', 'MODEL-012', 'CARD-011'),
    'The card has name, description, version, supportedInterfaces, capabilities, default modes and skills.',
    'Publish every required member of AgentCard with its defined type.',
  ],
  skills: [
    must('4.4.5', 'MODEL-013'),
    'Each skill has id, name, description and tags.',
    'Publish all four members for each skill.',
  ],
  interfaces: [
    must('4.4.6', 'MODEL-014', 'CARD-002'),
    'Each interface has an absolute url, a protocolBinding and a protocolVersion.',
    'Publish all three members for each interface.',
  ],
  binding: [
    must('8.3.1', 'CARD-002', 'MODEL-014'),
    'The card names the standard bindings JSONRPC, HTTP+JSON and GRPC.',
    'Use the exact names of the specification.',
  ],
  patch: [
    should('3.6', 'VER-001'),
    'The protocolVersion of an interface has no patch number.',
    'Use 1.0, not 1.0.1.',
  ],
  capabilities: [
    must('4.4.3', 'MODEL-012'),
    'Capabilities are booleans, and each extension has a uri.',
    'Set capabilities to true or false, and uri for each extension.',
  ],
  provider: [
    must('4.4.2', 'MODEL-012'),
    'The provider has organization and url, and all URLs are absolute.',
    'Publish both members, or omit the provider.',
  ],
  schemes: [
    must('4.5.1', 'MODEL-015'),
    'A security scheme has exactly one member, named after its type, with the required members of the type.',
    'Publish, for example, {"httpAuthSecurityScheme": {"scheme": "bearer"}}.',
  ],
  flows: [
    must('4.5.7', 'PROTO-001', 'PROTO-002'),
    'An OAuth scheme has exactly one flow, with absolute URLs and a map of scopes.',
    'Publish one flow for each scheme, with its required members.',
  ],
  requirements: [
    must('4.4.1', 'MODEL-015', 'MODEL-012'),
    'Security requirements contain only schemes that the card declares.',
    'Publish {"schemes": {"name": {"list": []}}} with names of securitySchemes.',
  ],
  camel: [
    must('5.5', 'JSON-001'),
    'The member names of a card are in camelCase.',
    'Use supportedInterfaces, not supported_interfaces.',
  ],
  empty: [
    should('5.7', 'JSON-010', 'MODEL-012', 'MODEL-013'),
    'Required lists of a card have at least one element.',
    'Publish at least one skill, tag and mode.',
  ],
  unique: [
    should('4.4.5', 'MODEL-013'),
    'The ids of skills and the URIs of extensions are unique.',
    'Assign a unique id to each skill.',
  ],
  modes: [
    should('4.4.1', 'MODEL-012'),
    'Input and output modes are media types.',
    'Use text/plain, not text.',
  ],
};

/** The 1.0 card: sections 4.4, 4.5, 8 and 14.3. */
export const cardChecks = defineChecks({ category: 'agent-card', versions: ['1.0'], about: 'card' }, [
  ...Object.entries(schemaRules).map(([tag, [citation, sentence, remedy]]) => ({
    id: `card.${tag}`,
    ...citation,
    sentence,
    remedy,
    async run(probe: Probe) {
      for (const error of cardSchemaErrors(probe.card))
        if (error.tag === tag) probe.warn(error.message, { exchanges: [] });
    },
  })),
  {
    id: 'card.found',
    ...must('8.2', 'CARD-001', 'CARD-011'),
    sentence: 'The agent serves the card at /.well-known/agent-card.json.',
    remedy: 'Serve the 1.0 card at this path with status 200.',
    runsWithoutCard: true,
    async run(probe) {
      // The card may have been found at the path of 0.3.
      const url = probe.context.cardUrl.replace(/(?<=\/\.well-known\/)agent\.json$/, 'agent-card.json');
      const card = expectCard(probe, await fetchCard1_0(probe, {}, url));
      const isCard1_0 = Array.isArray(card.supportedInterfaces);
      probe.expect(isCard1_0, 'The card at the well-known URL is not a 1.0 card', {
        expected: 'an object with supportedInterfaces',
        actual: card,
      });
    },
  },
  {
    id: 'card.json',
    ...should('14.3', 'CARD-011'),
    sentence: 'The agent serves the card as JSON.',
    remedy: 'Set Content-Type: application/json.',
    async run(probe) {
      const { headers } = await fetchCard1_0(probe);
      const actual = headers['content-type'] ?? 'none';
      const isJson = /^application\/(json|a2a\+json)\b/i.test(actual);
      probe.expect(isJson, 'The card has the wrong content type', { expected: 'application/json', actual });
    },
  },
  {
    id: 'card.public',
    ...should('8.2', 'CARD-001'),
    sentence: 'The agent serves the card without credentials, because it describes the authentication.',
    remedy: 'Serve the card without authentication.',
    runsWithoutCard: true,
    async run(probe) {
      expectPublic(probe, await fetchCard1_0(probe.withCredentials({})));
    },
  },
  {
    id: 'card.secrets',
    ...should('14.3', 'CARD-013'),
    sentence: 'The card contains no credentials.',
    remedy: 'Remove passwords, keys and tokens from the card, and rotate them.',
    async run(probe) {
      const { signatures: _signatures, ...card } = probe.card;
      for (const at of findSecrets(card)) probe.warn(`${at} looks like a secret`, { exchanges: [] });
    },
  },
  {
    id: 'card.https',
    ...should('7.1', 'AUTH-001', 'CARD-014', 'SEC-001'),
    sentence: 'Interfaces that are not on the local host use https.',
    remedy: 'Serve over https, and publish https URLs.',
    async run(probe) {
      const urls = declaredInterfaces(probe).map(
        ({ url, binding }) => (binding === 'GRPC' && grpcOrigin(url, probe.context.cardUrl)) || url,
      );
      const remoteUrls = [...urls, probe.context.cardUrl].filter((url) => !isLoopbackUrl(url));
      if (remoteUrls.length === 0) throw new NotApplicableError('All URLs are on the local host.');
      for (const url of remoteUrls)
        if (url.startsWith('http:')) probe.warn(`${url} is not encrypted`, { exchanges: [] });
    },
  },
  {
    id: 'card.truthful',
    ...must('8.3.1', 'CARD-002', 'CARD-004', 'MODEL-014'),
    sentence: 'Every interface of the card responds in its declared binding and version.',
    remedy: 'Publish only interfaces that are served, with their actual URLs.',
    async run(probe) {
      const tried = new Set<string>();
      for (const { url, binding, version, tenant } of declaredInterfaces(probe)) {
        const known = parseVersionName(version);
        const transport = checkedTransports.find((each) => each === binding);
        const endpoint = endpointUrl(transport, url, probe.context.cardUrl);
        if (
          !transport ||
          endpoint === undefined ||
          known === undefined ||
          tried.has(`${url} ${binding} ${known}`)
        )
          continue;
        tried.add(`${url} ${binding} ${known}`);
        const driver = withDeclaredExtensions(
          createDriver(known, transport, endpoint, tenant),
          requiredExtensions(probe.card),
        );
        const problem = await interfaceProblem(probe.withDriver(driver));
        if (problem !== undefined) probe.warn(`${binding} ${version} at ${url}: ${problem}`);
      }
    },
  },
  {
    id: 'card.undeclared',
    ...must('5.2', 'BIND-005'),
    sentence: 'The card declares every binding that the agent serves.',
    remedy: 'Add the interface to supportedInterfaces, or do not serve it.',
    async run(probe) {
      const declared = new Set(declaredInterfaces(probe).map(({ binding }) => binding));
      const urls = [...new Set(declaredInterfaces(probe).map(({ url }) => url))].filter(
        (url) => /^https?:\/\/[^/]/.test(url) && isUrl(url),
      );
      const undeclared = checkedTransports.filter((each) => !declared.has(each));
      for (const transport of undeclared)
        for (const url of transport === 'GRPC' ? new Set(urls.map((each) => new URL(each).origin)) : urls)
          if (await isServed(probe.withDriver(createDriver('1.0', transport, url))))
            probe.warn(`${transport} is served at ${url}, but the card does not declare it`);
    },
  },
]);

interface DeclaredInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant: string | undefined;
}

function declaredInterfaces(probe: Probe): DeclaredInterface[] {
  return objectsOf(probe.card.supportedInterfaces).map((each) => ({
    url: asText(each.url) ?? '',
    binding: asText(each.protocolBinding) ?? '',
    version: asText(each.protocolVersion) ?? '',
    tenant: asText(each.tenant),
  }));
}

/** Returns how an interface differs from its declaration, or undefined if it does not. */
async function interfaceProblem(probe: Probe): Promise<string | undefined> {
  const unknown = await probe.call('get', { id: crypto.randomUUID() });
  if (authStatus(unknown.exchange) !== undefined) return undefined;
  if (!unknown.error) return `the response for an unknown task is ${describeResponse(unknown)}`;
  const mismatch = errorMismatch(unknown.error, 'TaskNotFound', probe.driver);
  if (mismatch !== undefined) return `the response for an unknown task should be ${mismatch}`;
  if (!isJsonObject(parseJsonOrUndefined(unknown.exchange.body)))
    return 'the response for an unknown task is not a JSON object';
  const response = await probe.call('send', { message: probe.prompts.anyPrompt() });
  if (probe.decodeSendResult(response)) return undefined;
  return `the response to a message is ${describeResponse(response)}`;
}

/** Returns true if an undeclared interface responds with TaskNotFound to an unknown task. */
async function isServed(probe: Probe): Promise<boolean> {
  const { error } = await probe.call('get', { id: crypto.randomUUID() });
  const { transport } = probe.driver;
  if (!error || errorMismatch(error, 'TaskNotFound', probe.driver) !== undefined) return false;
  return transport === 'JSONRPC' || error.reason === 'TASK_NOT_FOUND';
}
