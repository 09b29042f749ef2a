import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { requiredExtensions } from '../../discovery/card-variants.ts';
import { NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import type { DecodedResponse, RequestOverrides } from '../../drivers/protocol-driver.ts';
import { asText, objectsOf } from '../../drivers/normalized-views.ts';
import { stripTrailing } from '../../../primitives/text.ts';

const withExtensions = (uris: readonly string[]): RequestOverrides => ({
  headers: { 'a2a-extensions': uris.join(', ') },
});

function declaredExtensions(probe: Probe): string[] {
  return objectsOf(probe.capabilities.extensions).flatMap(({ uri }) => asText(uri) ?? []);
}

function send(probe: Probe, uris: readonly string[]): Promise<DecodedResponse> {
  return probe.call('send', { message: probe.prompts.anyPrompt() }, withExtensions(uris));
}

/** Returns the extensions that a response declares as active. */
function activeExtensions({ exchange: { headers } }: DecodedResponse): string[] {
  const header = headers['a2a-extensions'] ?? headers['x-a2a-extensions'] ?? '';
  return header.split(',').flatMap((each) => each.trim() || []);
}

/** Returns the URI of an unknown version of an extension. */
function otherVersion(uri: string): string {
  const base = stripTrailing(uri, '/');
  const unversioned = stripTrailing(base, '.0123456789');
  return unversioned === base ? `${base}/v987` : `${unversioned}987${uri.slice(base.length)}`;
}

function expectRequiredExtensions(probe: Probe): string[] {
  const uris = requiredExtensions(probe.card);
  if (uris.length === 0) throw new NotApplicableError('The card requires no extension.');
  return uris;
}

const shared = { category: 'interop', versions: ['1.0'], preconditions: ['extensions'] } as const;

/** Extensions: sections 3.3.4 and 4.6. */
export const extensionChecks = defineChecks(shared, [
  {
    id: 'extension.required',
    ...must('3.3.4', 'CAP-006'),
    sentence: 'The agent rejects requests without a required extension with ExtensionSupportRequired.',
    remedy: 'Return -32008 if A2A-Extensions lacks a required extension; accept requests that list it.',
    async run(probe) {
      const uris = expectRequiredExtensions(probe);
      for (const missing of uris) {
        const others = uris.filter((uri) => uri !== missing);
        const response = await send(probe, others);
        probe.assertError(response, 'ExtensionSupportRequired', `A message without ${missing}`);
      }
      const response = await send(probe, uris);
      probe.expectSuccess(response, 'A message with all required extensions failed');
    },
  },
  {
    id: 'extension.required-stream',
    ...must('3.3.4', 'CAP-006'),
    sentence: 'The agent opens no stream for requests without a required extension.',
    remedy: 'Check A2A-Extensions before the stream is opened.',
    preconditions: ['extensions', 'streaming'],
    async run(probe) {
      expectRequiredExtensions(probe);
      const input = { message: probe.prompts.anyPrompt() };
      const [error, subject] = ['ExtensionSupportRequired', 'A stream without extensions'] as const;
      await probe.expectStreamError('stream', input, error, subject, withExtensions([]));
    },
  },
  {
    id: 'extension.required-version',
    ...must('4.6.3', 'EXT-004'),
    sentence: 'The agent rejects requests with another version of a required extension.',
    remedy: 'Compare the complete URI.',
    async run(probe) {
      const response = await send(probe, expectRequiredExtensions(probe).map(otherVersion));
      const subject = 'A message with another version of a required extension';
      probe.assertError(response, 'ExtensionSupportRequired', subject);
    },
  },
  {
    id: 'extension.unknown',
    ...should('4.6.3', 'EXT-003'),
    sentence: 'The agent ignores an unknown extension and does not declare it as active.',
    remedy: 'Process the request without the extension, and omit it from A2A-Extensions.',
    preconditions: [],
    async run(probe) {
      const unknown = 'https://example.com/extensions/of-nobody/v1';
      const response = await send(probe, [...requiredExtensions(probe.card), unknown]);
      probe.expectSuccess(response, 'A message with an unknown extension failed');
      const active = activeExtensions(response);
      const message = 'The response declares an unknown extension as active';
      probe.expect(!active.includes(unknown), message, { actual: active });
    },
  },
  {
    id: 'extension.no-fallback',
    ...must('4.6.3', 'EXT-005'),
    sentence: 'The agent does not activate its version of an extension if the client requests another one.',
    remedy: 'Activate an extension only if the client requests its complete URI.',
    async run(probe) {
      const required = requiredExtensions(probe.card);
      const optional = declaredExtensions(probe).filter((uri) => !required.includes(uri));
      if (optional.length === 0) throw new NotApplicableError('All extensions of the card are required.');
      const response = await send(probe, [...required, ...optional.map(otherVersion)]);
      const activated = activeExtensions(response).filter((uri) => optional.includes(uri));
      const evidence = { expected: `${required.join(', ') || 'no extension'} active` };
      probe.expectEmpty(activated, 'Another version of an extension was activated', evidence);
    },
  },
  {
    id: 'extension.active',
    ...should('4.6.1', 'EXT-006'),
    sentence: 'The response declares exactly the requested extensions that are active.',
    remedy: 'Set A2A-Extensions in the response.',
    async run(probe) {
      const uris = declaredExtensions(probe);
      const all = activeExtensions(await send(probe, uris));
      const missing = uris.filter((uri) => !all.includes(uri));
      probe.expect(missing.length === 0, 'The response does not declare a requested extension as active', {
        expected: `A2A-Extensions: ${uris.join(', ')}`,
        actual: all.join(', ') || 'no A2A-Extensions',
      });
      const required = requiredExtensions(probe.card);
      const others = activeExtensions(await send(probe, required)).filter((uri) => !required.includes(uri));
      probe.expectEmpty(others, 'An extension is active that was not requested');
    },
  },
  {
    id: 'extension.versioned',
    ...should('4.6.3', 'EXT-001'),
    sentence: 'The URI of an extension contains its version.',
    remedy: 'End the URI with a version, such as /v1.',
    about: 'card',
    async run(probe) {
      for (const uri of declaredExtensions(probe))
        if (!/(?:^|[/:@#?=._-])v?\d+(?:\/|$|#)/i.test(uri.replace(/^[a-z]+:\/\/[^/]+/i, '')))
          probe.warn(`${uri} has no version`, { exchanges: [] });
    },
  },
]);
