import { bendError, type Loose } from '../harness/mutations.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, errs } from '../harness/operation-mutant.ts';
import { wrap } from '../harness/override-agent.ts';

/** Agents whose envelopes are wrong. */
export const brokenHttp = defineBroken([
  {
    id: 'rpc.envelope:text-id',
    breaks: 'rpc.envelope',
    what: 'The id of a request comes back as null.',
    versions: all,
    transports: ['JSONRPC'],
    wire: () => ({
      answer(answer) {
        if ((answer.json as Loose | undefined)?.jsonrpc)
          answer.json = { ...(answer.json as Loose), id: null };
      },
    }),
  },
  {
    id: 'rpc.envelope:no-mark',
    breaks: 'rpc.envelope',
    what: 'jsonrpc is missing.',
    versions: all,
    transports: ['JSONRPC'],
    wire: () => ({
      answer(answer) {
        const { jsonrpc, ...others } = (answer.json ?? {}) as Loose;
        if (jsonrpc) answer.json = others;
      },
    }),
  },
  {
    id: 'rpc.envelope:both',
    breaks: 'rpc.envelope',
    what: 'There are both a result and an error.',
    versions: all,
    transports: ['JSONRPC'],
    wire: () =>
      bendError((_error, answer) => {
        (answer.json as Loose).result = {};
      }),
  },
  {
    id: 'http.json:html',
    breaks: 'http.json',
    what: 'Errors are pages of HTML.',
    versions: all,
    wire: () =>
      bendError((_error, answer) => {
        answer.json = undefined;
        answer.text = '<html><body>Not found</body></html>';
        answer.headers['content-type'] = 'text/html';
      }),
  },
  {
    id: 'http.json:plain',
    breaks: 'http.json',
    what: 'Answers say that they are plain text.',
    versions: all,
    wire: () => ({
      answer(answer) {
        answer.headers['content-type'] = 'text/plain';
      },
    }),
  },
  {
    id: 'http.rpc-type:a2a',
    breaks: 'http.rpc-type',
    what: 'Answers of JSON-RPC have the type of REST.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => ({
      answer(answer) {
        answer.headers['content-type'] = 'application/a2a+json';
      },
    }),
  },
  {
    id: 'http.no-5xx:breaks',
    breaks: 'http.no-5xx',
    what: 'An unknown task breaks the server.',
    versions: all,
    agent: (agent) => wrap(agent, errs('getTask', 'TASK_NOT_FOUND', 'INTERNAL_ERROR')(agent)),
  },
  {
    id: 'http.no-leak:stack',
    breaks: 'http.no-leak',
    what: 'Errors show the stack.',
    versions: all,
    wire: () =>
      bendError((error) => {
        error.message = 'Error: no\n    at Store.load (/srv/app/node_modules/store/index.js:10:5)';
      }),
  },
  {
    id: 'http.utf8:latin',
    breaks: 'http.utf8',
    what: 'Answers are in Latin-1.',
    versions: all,
    wire: () => ({
      answer(answer, { path }) {
        if (path.includes('/.well-known/')) return;
        answer.text = answer.text.replaceAll('"text":"', '"text":"\u00ff');
        answer.json = undefined;
        answer.encoding = 'latin1';
      },
    }),
  },
]);
