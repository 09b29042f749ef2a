import { jsonTransports, must } from '../rule-model.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { defineInvariants } from '../observation/observation.ts';
import { isEventStream } from '../wire/http-exchange.ts';

/** Rules of HTTP responses. */
export const httpInvariants = defineInvariants(
  { category: 'error-handling', versions: ['1.0', '0.3', '0.1'] },
  [
    {
      id: 'http.json',
      ...must('9.1', 'RPC-001', 'REST-001'),
      sentence: 'The agent responds with JSON and a JSON Content-Type, never with HTML or plain text.',
      remedy: 'Set Content-Type to application/json (REST: application/a2a+json), also for errors.',
      transports: jsonTransports,
      check({ kind, exchange }) {
        if (kind !== 'response') return undefined;
        if (exchange.status === 0 || exchange.status === 204 || isEventStream(exchange)) return undefined;
        // A proxy in front of the agent may send the responses to unauthenticated requests.
        if (exchange.status === 401 || exchange.status === 403 || exchange.body === '') return undefined;
        const type = exchange.headers['content-type'] ?? '';
        const messages: string[] = [];
        if (parseJsonOrUndefined(exchange.body) === undefined)
          messages.push(`HTTP ${exchange.status} without JSON: ${exchange.body.slice(0, 60)}`);
        if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) messages.push(describeContentType(type));
        return messages;
      },
    },
    {
      id: 'http.rpc-type',
      ...must('9.1', 'RPC-001'),
      sentence: 'The agent sends JSON-RPC responses with the Content-Type application/json.',
      remedy: 'Use application/a2a+json only for REST.',
      versions: ['1.0'],
      transports: ['JSONRPC'],
      check({ kind, exchange }) {
        if (kind !== 'response' || exchange.status !== 200 || isEventStream(exchange)) return undefined;
        const type = exchange.headers['content-type'] ?? '';
        return /^application\/json\b/i.test(type) ? [] : [describeContentType(type)];
      },
    },
    {
      id: 'http.utf8',
      ...must('14.1.1', 'IANA-001'),
      sentence: 'The agent encodes responses in UTF-8.',
      remedy: 'Encode every response in UTF-8 without a byte order mark.',
      check({ kind, exchange }) {
        if ((kind !== 'response' && kind !== 'stream') || exchange.body === '') return undefined;
        return exchange.hasInvalidUtf8 ? ['The response is not valid UTF-8'] : [];
      },
    },
    {
      id: 'http.no-5xx',
      ...must('13.4', 'SEC-005', 'ERR-001'),
      sentence: 'The agent responds to no request with status 5xx (except 501 and 503) or an internal error.',
      remedy: 'Validate requests and reject invalid ones with the matching error.',
      check(observation) {
        if (observation.kind !== 'response' || observation.exchange.status === 0) return undefined;
        const { exchange, response } = observation;
        if (exchange.status >= 500 && exchange.status !== 501 && exchange.status !== 503)
          return [`HTTP ${exchange.status}: ${exchange.body.slice(0, 80)}`];
        const isInternal = internalStatuses.has(response.error?.grpcStatus ?? '');
        if (response.error && (response.error.code === -32603 || isInternal))
          return [`Internal error: ${response.error.message.slice(0, 80)}`];
        return [];
      },
    },
    {
      id: 'http.no-leak',
      ...must('13.4', 'SEC-008', 'ERR-002'),
      sentence: 'The agent sends errors without stack traces, file paths and credentials.',
      remedy: 'Log the cause on the server and send a generic message.',
      check({ kind, exchange }) {
        if (kind !== 'response' || exchange.status === 0) return undefined;
        const body = parseJsonOrUndefined(exchange.body);
        if (exchange.status < 400 && !(isJsonObject(body) && isJsonObject(body.error))) return undefined;
        const leak = internals.map((pattern) => pattern.exec(exchange.body)).find((found) => found !== null);
        const secret = exchange.requestHeaders.authorization?.replace(/^\S+\s+/, '');
        const messages = leak ? [`The error contains internals: ${leak[0].slice(0, 60)}`] : [];
        if (secret !== undefined && secret.length > 7 && exchange.body.includes(secret))
          messages.push('The error contains the credentials of the client');
        return messages;
      },
    },
  ],
);

const internalStatuses: ReadonlySet<string> = new Set(['INTERNAL', 'UNKNOWN', 'DATA_LOSS']);

const internals = [
  / at [\w.<>]+ \([^()]+:\d+:\d+\)/,
  /Traceback \(most recent call last\)/,
  /node_modules\//,
  /File "[^"]+", line \d+/,
];

function describeContentType(type: string): string {
  return `The Content-Type is ${type === '' ? 'missing' : type}`;
}
