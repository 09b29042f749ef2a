import { operationPatterns } from './auth.ts';
import { isMutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireMutation,
  type WireRequest,
} from '../harness/mutant-agent.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';

/** A broken agent with two callers in one line: the rule, how, what, and its wire. */
function wired(breaks: string, how: string, what: string, wire: () => WireMutation): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    requiresAuthentication: true,
    wire,
  };
}

const isBen = ({ headers }: WireRequest): boolean => headers.authorization === `Bearer ${testPrincipals.ben}`;

/** Lets the one do in the name of the other what an operation does. */
function mixes(name: string): () => WireMutation {
  const pattern = operationPatterns[name] ?? /never/;
  return () => ({
    request(request) {
      const isContinued = name !== 'send' && name !== 'stream' ? true : request.body.includes('"taskId"');
      if (isBen(request) && pattern.test(request.operation) && isContinued)
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  });
}

/** The tasks that were made by ann, as they pass. */
function owned(): {
  note: (text: string, request: WireRequest) => void;
  isForeign: (request: WireRequest) => boolean;
} {
  const ids = new Set<string>();
  return {
    note(text, request) {
      if (isBen(request)) return;
      for (const [, id = ''] of text.matchAll(/"(?:task":\{"id|id)":"([\w-]{36})"/g)) ids.add(id);
    },
    isForeign: (request) =>
      isBen(request) && [...ids].some((id) => request.path.includes(id) || request.body.includes(id)),
  };
}

/** Refuses what belongs to somebody else in its own way. */
function tells(change: (json: object) => unknown, status?: number): () => WireMutation {
  return () => {
    const { note, isForeign } = owned();
    return {
      response(answer, request) {
        note(JSON.stringify(answer.json ?? ''), request);
        if (!isForeign(request) || !isMutableJson(answer.json) || !('error' in answer.json)) return;
        answer.json = change(structuredClone(answer.json));
        if (status !== undefined && answer.status >= 400) answer.status = status;
      },
    };
  };
}

const reworded =
  (from: RegExp | string, to: string) =>
  (json: object): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll(from, to));

/** Agents whose callers see each other. */
export const authorizationMutants = defineMutants([
  wired('authorization.get', 'any', 'Anybody can read a task.', mixes('get')),
  wired('authorization.list', 'any', 'Anybody sees the tasks of all.', mixes('list')),
  wired('authorization.list', 'context', 'Who knows a context sees its tasks.', () => ({
    request(request) {
      if (
        isBen(request) &&
        operationPatterns.list?.test(request.operation) &&
        /contextId/.test(request.path + request.body)
      )
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  })),
  wired('authorization.cancel', 'any', 'Anybody can cancel a task.', mixes('cancel')),
  wired('authorization.send', 'any', 'Anybody can go on with a task.', mixes('send')),
  wired('authorization.stream', 'subscribe', 'Anybody can follow a task.', mixes('subscribe')),
  wired('authorization.stream', 'stream', 'Anybody can go on with a task in a stream.', mixes('stream')),
  ...['createPush', 'getPush', 'listPush', 'deletePush'].map((name) =>
    wired('authorization.push', name, `Anybody can ${name} for a task.`, mixes(name)),
  ),
  wired(
    'authorization.alike',
    'words',
    'The words tell that the task is there.',
    tells(reworded(/"message":"[^"]*"/g, '"message":"This task is not yours"')),
  ),
  {
    ...wired(
      'authorization.alike',
      'code',
      'The code tells that the task is there.',
      tells(reworded('-32001', '-32004')),
    ),
    transports: ['JSONRPC'],
  },
  {
    ...wired(
      'authorization.alike',
      'status',
      'The status tells that the task is there.',
      tells((json) => json, 403),
    ),
    transports: ['HTTP+JSON'],
  },
  wired(
    'authorization.alike',
    'reason',
    'The reason tells that the task is there.',
    tells(reworded('TASK_NOT_FOUND', 'TASK_NOT_OWNED')),
  ),
]);
