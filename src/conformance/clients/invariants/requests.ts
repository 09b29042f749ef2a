import { isJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { asText, listOf, objectOf } from '../../drivers/normalized-views.ts';
import { jsonTransports, must, should } from '../../rule-model.ts';
import {
  clientVersions,
  type ClientInvariant,
  contextVersions,
  defineClientInvariants,
} from '../client-check.ts';
import { messagesOf } from '../client-run.ts';

const hasBody = (method: string): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH';

/** Rules about every request of a client. */
export const requestInvariants: readonly ClientInvariant[] = defineClientInvariants(
  { category: 'interop', versions: clientVersions },
  [
    {
      id: 'client-request.version',
      ...must('3.6.1', 'VER-003', 'RPC-003', 'RPC-004', 'GRPC-002', 'GRPC-003', 'REST-002', 'REST-003'),
      versions: ['1.0'],
      sentence: 'A client sends A2A-Version with every call, as a header or as metadata of gRPC.',
      remedy: 'Send A2A-Version: 1.0 with every call; agents treat calls without it as 0.3.',
      check({ request: { call, headers, target } }) {
        if (!call) return undefined;
        const isInQuery = new URLSearchParams(target.split('?')[1] ?? '').has('A2A-Version');
        return headers['a2a-version'] === undefined && !isInQuery
          ? [`${call.operation} has no A2A-Version`]
          : [];
      },
    },
    {
      id: 'client-request.version-form',
      ...must('14.2.1', 'VER-010'),
      versions: ['1.0'],
      sentence: 'The value of A2A-Version has the form Major.Minor and is the version of the interface.',
      remedy: 'Send 1.0, without a patch number.',
      check({ request: { call, headers } }) {
        const version = headers['a2a-version'];
        if (!call || version === undefined) return undefined;
        return version === '1.0' ? [] : [`A2A-Version is ${JSON.stringify(version.slice(0, 40))}, not 1.0`];
      },
    },
    {
      id: 'client-request.content-type',
      ...must('9.1', 'RPC-001', 'REST-001', 'GRPC-001', '0.3/3.2.1'),
      sentence: 'A client sends the Content-Type of the transport.',
      remedy:
        'Send application/json; over REST of 1.0 also application/a2a+json, over gRPC application/grpc.',
      check({ request: { call, method, headers, body } }) {
        if (!call || (call.transport !== 'GRPC' && (!hasBody(method) || body === ''))) return undefined;
        const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
        const allowed = {
          JSONRPC: /^application\/json$/,
          'HTTP+JSON': /^application\/(?:a2a\+)?json$/,
          GRPC: /^application\/grpc(?:\+proto)?$/,
        }[call.transport];
        return allowed.test(type) ? [] : [`The Content-Type of ${call.operation} is ${JSON.stringify(type)}`];
      },
    },
    {
      id: 'client-request.accept',
      ...must('3.1.2', 'STRM-002'),
      transports: jsonTransports,
      category: 'streaming',
      sentence: 'A client that opens a stream accepts text/event-stream.',
      remedy: 'Send Accept: text/event-stream, or no Accept.',
      check({ request: { call, headers } }) {
        if (call?.operation !== 'stream' && call?.operation !== 'subscribe') return undefined;
        const accept = headers.accept ?? '*/*';
        return /text\/event-stream|text\/\*|\*\/\*/.test(accept)
          ? []
          : [`Accept is ${JSON.stringify(accept)}`];
      },
    },
    {
      id: 'client-request.envelope',
      ...must('9.3', 'RPC-006', '0.3/6.11'),
      transports: ['JSONRPC'],
      sentence: 'A client sends requests of JSON-RPC 2.0 with an id.',
      remedy: 'Send jsonrpc "2.0", an id that is a string or number, a method, and params as an object.',
      check({ request: { call, body } }) {
        if (call?.transport !== 'JSONRPC') return undefined;
        const request = objectOf(parseJsonOrUndefined(body));
        const problems: string[] = [];
        if (request.jsonrpc !== '2.0') problems.push('jsonrpc is not "2.0"');
        if (typeof request.id !== 'string' && typeof request.id !== 'number')
          problems.push('id is neither a string nor a number');
        if (request.params !== undefined && !isJsonObject(request.params))
          problems.push('params is not an object');
        return problems;
      },
    },
    {
      id: 'client-request.known',
      ...must('5.3', 'RPC-002', 'REST-005', 'GRPC-001', '0.3/3.5'),
      sentence: 'A client calls only operations of the version and transport that the card offers.',
      remedy: 'Use the method names and paths of the version of the interface.',
      check({ request, driver }) {
        const { origin, isCard, call, method, target, body } = request;
        if (origin === 'other' || isCard || (method === 'GET' && !call)) return undefined;
        if (!call) return [`${method} ${target} is no operation of A2A: ${body.slice(0, 80)}`];
        return call.version === driver.version
          ? []
          : [
              `${call.operation} was called in the form of ${call.version}, the card offers ${driver.version}`,
            ];
      },
    },
    {
      id: 'client-request.message',
      ...must('4.1.4', 'MODEL-004', '0.3/6.4'),
      sentence: 'A message of a client has a messageId, the role of the user and at least one part.',
      remedy: 'Set messageId to a new id, role to the user, and parts to a list with content.',
      check({ request: { call } }) {
        if (!call?.message) return undefined;
        const { version, transport, message } = call;
        const { raw, messageId } = message;
        const isProto = version === '1.0' || (version === '0.3' && transport !== 'JSONRPC');
        const parts = listOf(version === '0.3' && isProto ? (raw.content ?? raw.parts) : raw.parts);
        const problems: string[] = [];
        if (version !== '0.1' && messageId === undefined) problems.push('The message has no messageId');
        const role = isProto ? 'ROLE_USER' : 'user';
        if (raw.role !== role) problems.push(`The role is ${JSON.stringify(raw.role)}, not ${role}`);
        if (parts.length === 0) problems.push('The message has no parts');
        if (
          version === '1.0' &&
          ((isJsonObject(parts[0]) && ('kind' in parts[0] || 'type' in parts[0])) || 'kind' in raw)
        )
          problems.push('The message has members of an older version');
        if (version === '0.3' && !isProto && parts.some((part) => asText(objectOf(part).kind) === undefined))
          problems.push('A part has no kind');
        return problems;
      },
    },
    {
      id: 'client-request.encoding',
      ...must('10.1', 'GRPC-001'),
      versions: contextVersions,
      transports: ['GRPC'],
      sentence: 'A client sends messages of protobuf with the fields of the version.',
      remedy: 'Generate the messages from the protocol buffers of the version.',
      check: ({ request: { call, wireProblems } }) => (call ? wireProblems : undefined),
    },
    {
      id: 'client-request.body',
      ...must('11.5', 'REST-007', 'REST-010'),
      versions: contextVersions,
      transports: ['HTTP+JSON'],
      sentence: 'A client sends no body with GET and DELETE.',
      remedy: 'Put parameters of GET and DELETE into the path or query.',
      check({ request: { call, method, body } }) {
        if (!call || hasBody(method)) return undefined;
        return body === '' ? [] : [`${method} has a body: ${body.slice(0, 60)}`];
      },
    },
    {
      id: 'client-request.new-task',
      ...must('3.4.2', 'TID-003'),
      versions: contextVersions,
      category: 'lifecycle',
      sentence: 'The first message of a client names no task, because agents create the ids of tasks.',
      remedy: 'Leave taskId out of the first message.',
      check({ request, run }) {
        if (!request.call?.message || messagesOf(run)[0] !== request) return undefined;
        const { taskId } = request.call.message;
        return taskId === undefined || taskId === run.instruction.taskId
          ? []
          : [`The first message has the taskId ${taskId}`];
      },
    },
    {
      id: 'client-request.new-context',
      ...should('3.4.1', 'CTX-006'),
      versions: contextVersions,
      category: 'lifecycle',
      sentence: 'The first message of a client names no context.',
      remedy: 'Leave contextId out of the first message; the agent creates it.',
      check({ request, run }) {
        if (!request.call?.message || messagesOf(run)[0] !== request) return undefined;
        const { contextId } = request.call.message;
        return contextId === undefined
          ? []
          : [`The first message has the contextId ${contextId.slice(0, 60)}`];
      },
    },
  ],
);
