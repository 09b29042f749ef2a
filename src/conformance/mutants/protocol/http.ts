import { type MutantAgent, type WireResponse, mutant } from '../harness/mutant-agent.ts';
import { isCardRequest, mutateError } from '../harness/mutations.ts';
import { allVersions, inAllVersions, replaceErrors } from '../harness/operation-mutants.ts';

const setContentType =
  (type: string) =>
  ({ headers }: WireResponse): void => {
    headers['content-type'] = type;
  };

/** Mutants of HTTP responses. */
export const httpMutants: readonly MutantAgent[] = [
  mutant('http.json:html', 'Errors are HTML pages.', {
    versions: allVersions,
    wire: () =>
      mutateError((_error, response) => {
        response.json = undefined;
        response.text = '<html><body>Not found</body></html>';
        setContentType('text/html')(response);
      }),
  }),
  mutant('http.json:plain', 'Responses have the Content-Type text/plain.', {
    versions: allVersions,
    wire: () => ({ response: setContentType('text/plain') }),
  }),
  mutant('http.rpc-type:a2a', 'JSON-RPC responses have the Content-Type of REST.', {
    transports: ['JSONRPC'],
    wire: () => ({ response: setContentType('application/a2a+json') }),
  }),
  inAllVersions(
    'http.no-5xx:breaks',
    'An unknown task causes an internal error.',
    replaceErrors('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR'),
  ),
  mutant('http.no-leak:stack', 'Errors contain a stack trace.', {
    versions: allVersions,
    wire: () =>
      mutateError((error) => {
        error.message = 'Error: no\n    at Store.load (/srv/app/node_modules/store/index.js:10:5)';
      }),
  }),
  mutant('http.utf8:latin', 'Responses are encoded in Latin-1.', {
    versions: allVersions,
    wire: () => ({
      response(response, request) {
        if (isCardRequest(request)) return;
        response.text = response.text.replaceAll('"text":"', '"text":"\u00ff');
        response.json = undefined;
        response.encoding = 'latin1';
      },
    }),
  }),
  mutant('http.utf8:latin-stream', 'Streams are encoded in Latin-1.', {
    violates: ['http.utf8', 'stream.unicode'],
    versions: allVersions,
    wire: () => ({ streamEncoding: 'latin1' }),
  }),
];
