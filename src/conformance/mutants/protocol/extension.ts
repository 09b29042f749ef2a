import { type MutantAgent, type WireMutation, type WireRequest, mutant } from '../harness/mutant-agent.ts';
import { wireJsonResponse } from '../harness/wire-responses.ts';

const required = 'https://example.com/ext/steps/v1';
const optional = 'https://example.com/ext/notes/v2';
const extensions = [{ uri: required, required: true }, { uri: optional }];

function extensionMutant(id: string, description: string, wire: WireMutation): MutantAgent {
  return mutant(id, description, { definition: { extensions }, wire: () => wire });
}

const requestedExtensions = ({ headers }: WireRequest): string => String(headers['a2a-extensions'] ?? '');
/** Adds the required extension to matching requests. */
const addRequired = (matches: (request: WireRequest) => boolean): WireMutation => ({
  request(request) {
    if (matches(request)) request.headers['a2a-extensions'] = `${requestedExtensions(request)},${required}`;
  },
});
/** Replaces the header with the active extensions. */
const reportActive = (active: (request: WireRequest) => string | undefined): WireMutation => ({
  response({ headers }, request) {
    const value = active(request);
    if (value === undefined) delete headers['a2a-extensions'];
    else headers['a2a-extensions'] = value;
  },
});

/** Mutants of extension negotiation. */
export const extensionMutants: readonly MutantAgent[] = [
  extensionMutant(
    'extension.required:served',
    'A required extension is not required.',
    addRequired(() => true),
  ),
  extensionMutant(
    'extension.required:other-error',
    'A missing extension is rejected as an unsupported operation.',
    {
      response(response) {
        const text = JSON.stringify(response.json ?? '');
        if (!text.includes('EXTENSION_SUPPORT_REQUIRED')) return;
        response.json = JSON.parse(
          text
            .replaceAll('EXTENSION_SUPPORT_REQUIRED', 'UNSUPPORTED_OPERATION')
            .replaceAll('-32008', '-32004'),
        );
      },
    },
  ),
  extensionMutant('extension.required:never', 'Clients that request the required extension are rejected.', {
    request(request) {
      if (/SendMessage|message:send/.test(request.operation)) delete request.headers['a2a-extensions'];
    },
  }),
  extensionMutant(
    'extension.required-stream:served',
    'A stream is opened without the required extension.',
    addRequired(({ operation }) => /Streaming|message:stream/.test(operation)),
  ),
  extensionMutant(
    'extension.required-version:prefix',
    'Any version of a required extension is accepted.',
    addRequired((request) => /ext\/steps/.test(requestedExtensions(request))),
  ),
  extensionMutant('extension.unknown:refused', 'An unknown extension is rejected.', {
    request(request) {
      const uris = requestedExtensions(request)
        .split(',')
        .map((uri) => uri.trim());
      const isKnown = (uri: string): boolean => uri === '' || extensions.some((each) => each.uri === uri);
      if (uris.every(isKnown)) return undefined;
      return wireJsonResponse(400, {
        error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no such extension', details: [] },
      });
    },
  }),
  extensionMutant(
    'extension.unknown:echoed',
    'All requested extensions are reported as active.',
    reportActive(requestedExtensions),
  ),
  extensionMutant(
    'extension.no-fallback:older',
    'A client that requests a newer version gets the older one.',
    reportActive((request) =>
      /notes/.test(requestedExtensions(request)) ? `${required}, ${optional}` : required,
    ),
  ),
  extensionMutant(
    'extension.active:silent',
    'Active extensions are not reported.',
    reportActive(() => undefined),
  ),
  extensionMutant(
    'extension.active:all',
    'All extensions are always reported as active.',
    reportActive(() => `${required}, ${optional}`),
  ),
  {
    ...extensionMutant('extension.versioned:none', 'The URI of an extension has no version.', {}),
    definition: { extensions: [{ uri: 'https://example.com/ext/steps' }] },
    transports: ['JSONRPC'],
  },
];
