import { type Check, defineChecks, type Precondition } from '../../check.ts';
import { requiredExtensions } from '../../discovery/card-variants.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { DecodedResponse, RequestOverrides } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';

/** A check about extensions: id, requirements, section, level, sentence, remedy, and what it does. */
function about(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void> | void,
  needs: readonly Precondition[] = ['extensions'],
): Check {
  const rule = { id, requirements, section, level, category: 'interop' as const, sentence, remedy };
  return { ...rule, versions: ['1.0'], preconditions: needs, run: async (probe) => run(probe) };
}

const input = (uris: readonly string[]): RequestOverrides => ({
  headers: { 'a2a-extensions': uris.join(', ') },
});

function declared(probe: Probe): string[] {
  return (asList(probe.capabilities.extensions) ?? [])
    .filter(isJsonObject)
    .flatMap(({ uri }) => asText(uri) ?? []);
}

function send(probe: Probe, uris: readonly string[]): Promise<DecodedResponse> {
  return probe.call('send', { message: probe.context.prompts.anyPrompt() }, input(uris));
}

/** The extensions that an answer says are active. */
function active({ exchange: { headers } }: DecodedResponse): string[] {
  const said = headers['a2a-extensions'] ?? headers['x-a2a-extensions'] ?? '';
  return said.split(',').flatMap((each) => each.trim() || []);
}

/** The same extension in a version that nobody has. */
function otherVersion(uri: string): string {
  const next = uri.replace(/\d+(?:\.\d+)*(?=\/?$)/, '987');
  return next === uri ? `${uri.replace(/\/+$/, '')}/v987` : next;
}

function required(probe: Probe): string[] {
  const uris = requiredExtensions(probe.card);
  if (uris.length === 0) throw new NotApplicableError('The card requires no extension.');
  return uris;
}

/** Extensions: sections 3.3.4 and 4.6. */
export const extensionChecks = defineChecks([
  about(
    'extension.required',
    ['CAP-006'],
    '3.3.4',
    'MUST',
    'Callers that do not know a required extension are refused with ExtensionSupportRequired.',
    'Answer -32008 to a message without the extension in A2A-Extensions, and serve those who have it.',
    async (probe) => {
      const uris = required(probe);
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
        'A message with all extensions failed',
        {
          expected: 'a result',
          actual: describeResponse(response),
        },
      );
    },
  ),
  about(
    'extension.required-stream',
    ['CAP-006'],
    '3.3.4',
    'MUST',
    'No stream is opened for callers that do not know a required extension.',
    'Look at A2A-Extensions before the stream is opened.',
    async (probe) => {
      required(probe);
      const message = probe.context.prompts.anyPrompt();
      const { error, exchange } = await probe.openStream('stream', { message }, { overrides: input([]) });
      const response = { exchange, ...(error ? { error } : {}) };
      probe.assertError(response, 'ExtensionSupportRequired', 'A stream without extensions');
    },
    ['extensions', 'streaming'],
  ),
  about(
    'extension.required-version',
    ['EXT-004'],
    '4.6.3',
    'MUST',
    'Another version of a required extension is not the extension: the request is refused.',
    'Compare the whole URI.',
    async (probe) => {
      const response = await send(probe, required(probe).map(otherVersion));
      probe.assertError(
        response,
        'ExtensionSupportRequired',
        'A message with another version of what is required',
      );
    },
  ),
  about(
    'extension.unknown',
    ['EXT-003'],
    '4.6.3',
    'SHOULD',
    'An extension that the agent does not know is ignored, and not said to be active.',
    'Go on without it, and leave it out of A2A-Extensions.',
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
      probe.expect(!active(response).includes(unknown), 'An unknown extension is said to be active', {
        actual: active(response).join(', '),
      });
    },
    [],
  ),
  about(
    'extension.no-fallback',
    ['EXT-005'],
    '4.6.3',
    'MUST',
    'Who asks for another version of an extension does not get the one that the agent has.',
    'Activate an extension only where its whole URI was asked for.',
    async (probe) => {
      const needed = requiredExtensions(probe.card);
      const wanted = declared(probe).filter((uri) => !needed.includes(uri));
      if (wanted.length === 0) throw new NotApplicableError('Every extension of the card is required.');
      const response = await send(probe, [...needed, ...wanted.map(otherVersion)]);
      const taken = active(response).filter((uri) => wanted.includes(uri));
      probe.expect(taken.length === 0, 'Another version of an extension was activated', {
        expected: `${needed.join(', ') || 'nothing'} active`,
        actual: taken.join(', '),
      });
    },
  ),
  about(
    'extension.active',
    ['EXT-006'],
    '4.6.1',
    'SHOULD',
    'An answer says which of the extensions that were asked for are active, and no others.',
    'Send A2A-Extensions with the answer.',
    async (probe) => {
      const uris = declared(probe);
      const all = active(await send(probe, uris));
      const missing = uris.filter((uri) => !all.includes(uri));
      probe.expect(missing.length === 0, 'An answer does not say that an extension is active', {
        expected: `A2A-Extensions: ${uris.join(', ')}`,
        actual: all.join(', ') || 'no A2A-Extensions',
      });
      const needed = requiredExtensions(probe.card);
      const others = active(await send(probe, needed)).filter((uri) => !needed.includes(uri));
      probe.expect(others.length === 0, 'An extension is active that nobody asked for', {
        actual: others.join(', '),
      });
    },
  ),
  {
    ...about(
      'extension.versioned',
      ['EXT-001'],
      '4.6.3',
      'SHOULD',
      'The URI of an extension has its version.',
      'End the URI with a version, such as /v1.',
      (probe) => {
        for (const uri of declared(probe))
          if (!/(^|[/:@#?=._-])v?\d+(\.\d+)*(\/|$|#)/i.test(uri.replace(/^[a-z]+:\/\/[^/]+/i, '')))
            probe.warn(`${uri} has no version`, { exchanges: [] });
      },
    ),
    about: 'card',
  },
]);
