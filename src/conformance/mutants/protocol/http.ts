import { mutateError, type MutableJson } from '../harness/mutations.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import { allVersions, replaceErrors } from '../harness/operation-mutant.ts';
import { overrideAgent } from '../harness/override-agent.ts';

/** Agents whose envelopes are wrong. */
export const httpMutants = defineMutants([
  {
    id: 'rpc.envelope:text-id',
    violates: 'rpc.envelope',
    description: 'The id of a request comes back as null.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        if ((answer.json as MutableJson | undefined)?.jsonrpc)
          answer.json = { ...(answer.json as MutableJson), id: null };
      },
    }),
  },
  {
    id: 'rpc.envelope:no-mark',
    violates: 'rpc.envelope',
    description: 'jsonrpc is missing.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        const { jsonrpc, ...others } = (answer.json ?? {}) as MutableJson;
        if (jsonrpc) answer.json = others;
      },
    }),
  },
  {
    id: 'rpc.envelope:both',
    violates: 'rpc.envelope',
    description: 'There are both a result and an error.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((_error, answer) => {
        (answer.json as MutableJson).result = {};
      }),
  },
  {
    id: 'http.json:html',
    violates: 'http.json',
    description: 'Errors are pages of HTML.',
    versions: allVersions,
    wire: () =>
      mutateError((_error, answer) => {
        answer.json = undefined;
        answer.text = '<html><body>Not found</body></html>';
        answer.headers['content-type'] = 'text/html';
      }),
  },
  {
    id: 'http.json:plain',
    violates: 'http.json',
    description: 'Answers say that they are plain text.',
    versions: allVersions,
    wire: () => ({
      response(answer) {
        answer.headers['content-type'] = 'text/plain';
      },
    }),
  },
  {
    id: 'http.rpc-type:a2a',
    violates: 'http.rpc-type',
    description: 'Answers of JSON-RPC have the type of REST.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        answer.headers['content-type'] = 'application/a2a+json';
      },
    }),
  },
  {
    id: 'http.no-5xx:breaks',
    violates: 'http.no-5xx',
    description: 'An unknown task breaks the server.',
    versions: allVersions,
    agent: (agent) =>
      overrideAgent(agent, replaceErrors('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR')(agent)),
  },
  {
    id: 'http.no-leak:stack',
    violates: 'http.no-leak',
    description: 'Errors show the stack.',
    versions: allVersions,
    wire: () =>
      mutateError((error) => {
        error.message = 'Error: no\n    at Store.load (/srv/app/node_modules/store/index.js:10:5)';
      }),
  },
  {
    id: 'http.utf8:latin',
    violates: 'http.utf8',
    description: 'Answers are in Latin-1.',
    versions: allVersions,
    wire: () => ({
      response(answer, { path }) {
        if (path.includes('/.well-known/')) return;
        answer.text = answer.text.replaceAll('"text":"', '"text":"\u00ff');
        answer.json = undefined;
        answer.encoding = 'latin1';
      },
    }),
  },
]);
