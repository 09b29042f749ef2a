import { checkFactory, defineChecks } from '../../check.ts';
import { requiredExtensions } from '../../discovery/card-variants.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { DecodedResponse, RequestOverrides } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';

const shared = { category: 'interop', versions: ['1.0'] } as const;
const extensionCheck = checkFactory({ ...shared, preconditions: ['extensions'] });
const streamCheck = checkFactory({ ...shared, preconditions: ['extensions', 'streaming'] });
const generalCheck = checkFactory({ ...shared, preconditions: [] });
const extensionCardCheck = checkFactory({ ...shared, preconditions: ['extensions'], about: 'card' });

const withExtensions = (uris: readonly string[]): RequestOverrides => ({
  headers: { 'a2a-extensions': uris.join(', ') },
});

function declaredExtensions(probe: Probe): string[] {
  return (asList(probe.capabilities.extensions) ?? [])
    .filter(isJsonObject)
    .flatMap(({ uri }) => asText(uri) ?? []);
}

function send(probe: Probe, uris: readonly string[]): Promise<DecodedResponse> {
  return probe.call('send', { message: probe.context.prompts.anyPrompt() }, withExtensions(uris));
}

/** Returns the extensions that a response declares as active. */
function activeExtensions({ exchange: { headers } }: DecodedResponse): string[] {
  const header = headers['a2a-extensions'] ?? headers['x-a2a-extensions'] ?? '';
  return header.split(',').flatMap((each) => each.trim() || []);
}

/** Returns the URI of an unknown version of an extension. */
function otherVersion(uri: string): string {
  const next = uri.replace(/\d+(?:\.\d+)*(?=\/?$)/, '987');
  return next === uri ? `${uri.replace(/\/+$/, '')}/v987` : next;
}

function expectRequiredExtensions(probe: Probe): string[] {
  const uris = requiredExtensions(probe.card);
  if (uris.length === 0) throw new NotApplicableError('The card requires no extension.');
  return uris;
}

/** Extensions: sections 3.3.4 and 4.6. */
export const extensionChecks = defineChecks([
  extensionCheck(
    'extension.required',
    ['CAP-006'],
    '3.3.4',
    'MUST',
    'The agent rejects requests without a required extension with ExtensionSupportRequired.',
    'Return -32008 if A2A-Extensions lacks a required extension; accept requests that list it.',
    async (probe) => {
      const uris = expectRequiredExtensions(probe);
      for (const missing of uris) {
        const response = await send(
          probe,
          uris.filter((uri) => uri !== missing),
        );
        probe.assertError(response, 'ExtensionSupportRequired', `A message without ${missing}`);
      }
      const response = await send(probe, uris);
      probe.expect(
        !response.error && response.decodeError === undefined,
        'A message with all required extensions failed',
        {
          expected: 'a result',
          actual: describeResponse(response),
        },
      );
    },
  ),
  streamCheck(
    'extension.required-stream',
    ['CAP-006'],
    '3.3.4',
    'MUST',
    'The agent opens no stream for requests without a required extension.',
    'Check A2A-Extensions before the stream is opened.',
    async (probe) => {
      expectRequiredExtensions(probe);
      const message = probe.context.prompts.anyPrompt();
      const { error, exchange } = await probe.openStream(
        'stream',
        { message },
        { overrides: withExtensions([]) },
      );
      const response = { exchange, ...(error ? { error } : {}) };
      probe.assertError(response, 'ExtensionSupportRequired', 'A stream without extensions');
    },
  ),
  extensionCheck(
    'extension.required-version',
    ['EXT-004'],
    '4.6.3',
    'MUST',
    'The agent rejects requests with another version of a required extension.',
    'Compare the complete URI.',
    async (probe) => {
      const response = await send(probe, expectRequiredExtensions(probe).map(otherVersion));
      probe.assertError(
        response,
        'ExtensionSupportRequired',
        'A message with another version of a required extension',
      );
    },
  ),
  generalCheck(
    'extension.unknown',
    ['EXT-003'],
    '4.6.3',
    'SHOULD',
    'The agent ignores an unknown extension and does not declare it as active.',
    'Process the request without the extension, and omit it from A2A-Extensions.',
    async (probe) => {
      const unknown = 'https://example.com/extensions/of-nobody/v1';
      const response = await send(probe, [...requiredExtensions(probe.card), unknown]);
      probe.expect(
        !response.error && response.decodeError === undefined,
        'A message with an unknown extension failed',
        {
          expected: 'a result',
          actual: describeResponse(response),
        },
      );
      probe.expect(
        !activeExtensions(response).includes(unknown),
        'The response declares an unknown extension as active',
        {
          actual: activeExtensions(response).join(', '),
        },
      );
    },
  ),
  extensionCheck(
    'extension.no-fallback',
    ['EXT-005'],
    '4.6.3',
    'MUST',
    'The agent does not activate its version of an extension if the client requests another one.',
    'Activate an extension only if the client requests its complete URI.',
    async (probe) => {
      const required = requiredExtensions(probe.card);
      const optional = declaredExtensions(probe).filter((uri) => !required.includes(uri));
      if (optional.length === 0) throw new NotApplicableError('All extensions of the card are required.');
      const response = await send(probe, [...required, ...optional.map(otherVersion)]);
      const activated = activeExtensions(response).filter((uri) => optional.includes(uri));
      probe.expect(activated.length === 0, 'Another version of an extension was activated', {
        expected: `${required.join(', ') || 'no extension'} active`,
        actual: activated.join(', '),
      });
    },
  ),
  extensionCheck(
    'extension.active',
    ['EXT-006'],
    '4.6.1',
    'SHOULD',
    'The response declares exactly the requested extensions that are active.',
    'Set A2A-Extensions in the response.',
    async (probe) => {
      const uris = declaredExtensions(probe);
      const all = activeExtensions(await send(probe, uris));
      const missing = uris.filter((uri) => !all.includes(uri));
      probe.expect(missing.length === 0, 'The response does not declare a requested extension as active', {
        expected: `A2A-Extensions: ${uris.join(', ')}`,
        actual: all.join(', ') || 'no A2A-Extensions',
      });
      const required = requiredExtensions(probe.card);
      const others = activeExtensions(await send(probe, required)).filter((uri) => !required.includes(uri));
      probe.expect(others.length === 0, 'An extension is active that was not requested', {
        actual: others.join(', '),
      });
    },
  ),
  extensionCardCheck(
    'extension.versioned',
    ['EXT-001'],
    '4.6.3',
    'SHOULD',
    'The URI of an extension contains its version.',
    'End the URI with a version, such as /v1.',
    (probe) => {
      for (const uri of declaredExtensions(probe))
        if (!/(^|[/:@#?=._-])v?\d+(\.\d+)*(\/|$|#)/i.test(uri.replace(/^[a-z]+:\/\/[^/]+/i, '')))
          probe.warn(`${uri} has no version`, { exchanges: [] });
    },
  ),
]);
