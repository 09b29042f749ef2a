import {
  type MutantAgent,
  defineMutants,
  type WireMutation,
  type WireRequest,
} from '../harness/mutant-agent.ts';

const needed = 'https://example.com/ext/steps/v1';
const optional = 'https://example.com/ext/notes/v2';
const extensions = [{ uri: needed, required: true }, { uri: optional }];

/** A broken agent with extensions in one line: the rule, how, what, and its wire. */
function wired(breaks: string, how: string, what: string, wire: WireMutation): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    definition: { extensions },
    wire: () => wire,
  };
}

const asked = ({ headers }: WireRequest): string => String(headers['a2a-extensions'] ?? '');
const takes = (isTaken: (request: WireRequest) => boolean): WireMutation => ({
  request(request) {
    if (isTaken(request)) request.headers['a2a-extensions'] = `${asked(request)},${needed}`;
  },
});
const says = (say: (request: WireRequest) => string | undefined): WireMutation => ({
  response({ headers }, request) {
    const said = say(request);
    if (said === undefined) delete headers['a2a-extensions'];
    else headers['a2a-extensions'] = said;
  },
});

/** Agents that mistake extensions. */
export const extensionMutants = defineMutants([
  wired(
    'extension.required',
    'served',
    'A required extension is not required.',
    takes(() => true),
  ),
  wired('extension.required', 'other-error', 'A missing extension is an unsupported operation.', {
    response(answer) {
      const text = JSON.stringify(answer.json ?? '');
      if (!text.includes('EXTENSION_SUPPORT_REQUIRED')) return;
      answer.json = JSON.parse(
        text.replaceAll('EXTENSION_SUPPORT_REQUIRED', 'UNSUPPORTED_OPERATION').replaceAll('-32008', '-32004'),
      );
    },
  }),
  wired('extension.required', 'never', 'Even those who know the extension are refused.', {
    request(request) {
      if (/SendMessage|message:send/.test(request.operation)) delete request.headers['a2a-extensions'];
    },
  }),
  wired(
    'extension.required-stream',
    'served',
    'A stream is opened without the required extension.',
    takes(({ operation }) => /Streaming|message:stream/.test(operation)),
  ),
  wired(
    'extension.required-version',
    'prefix',
    'Any version of a required extension will do.',
    takes((request) => /ext\/steps/.test(asked(request))),
  ),
  wired('extension.unknown', 'refused', 'An unknown extension is refused.', {
    request(request) {
      if (!asked(request).includes('of-nobody')) return undefined;
      return {
        status: 400,
        headers: { 'content-type': 'application/json' },
        text: '',
        json: { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no such extension', details: [] } },
      };
    },
  }),
  wired('extension.unknown', 'echoed', 'Whatever is asked for is said to be active.', says(asked)),
  wired(
    'extension.no-fallback',
    'older',
    'Who asks for a newer version gets the older one.',
    says((request) => (/notes/.test(asked(request)) ? `${needed}, ${optional}` : needed)),
  ),
  wired(
    'extension.active',
    'silent',
    'Nobody hears which extensions are active.',
    says(() => undefined),
  ),
  wired(
    'extension.active',
    'all',
    'Every extension is always active.',
    says(() => `${needed}, ${optional}`),
  ),
  {
    ...wired('extension.versioned', 'none', 'The URI of an extension has no version.', {}),
    definition: { extensions: [{ uri: 'https://example.com/ext/steps' }] },
    transports: ['JSONRPC'],
  },
]);
