import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { defineInvariants } from '../observation/observation.ts';
import { isJsonObject } from '../drivers/normalized-views.ts';
import { isEventStream } from '../wire/http-exchange.ts';

/** What every answer over HTTP must be, whatever is in it. */
export const httpInvariants = defineInvariants([
  {
    id: 'http.json',
    requirements: ['RPC-001', 'REST-001'],
    section: '9.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'An answer is JSON and says so; no HTML, no plain text.',
    remedy: 'Answer with Content-Type application/json (REST: application/a2a+json), errors included.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'response') return undefined;
      const { exchange } = observation;
      if (exchange.status === 0 || exchange.status === 204 || isEventStream(exchange)) return undefined;
      // Who is not let in is told so by whatever stands in front of the agent.
      if (exchange.status === 401 || exchange.status === 403 || exchange.body === '') return undefined;
      const type = exchange.headers['content-type'] ?? '';
      const wrong: string[] = [];
      if (parseJsonOrUndefined(exchange.body) === undefined)
        wrong.push(`HTTP ${exchange.status} without JSON: ${exchange.body.slice(0, 60)}`);
      if (!/^application\/([\w.+-]+\+)?json\b/i.test(type))
        wrong.push(`The Content-Type is ${type === '' ? 'missing' : type}`);
      return wrong;
    },
  },
  {
    id: 'http.rpc-type',
    requirements: ['RPC-001'],
    section: '9.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'Answers of JSON-RPC have the type application/json.',
    remedy: 'Keep application/a2a+json for REST.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    check({ exchange, kind }) {
      if (kind !== 'response' || exchange.status !== 200 || isEventStream(exchange)) return undefined;
      const type = exchange.headers['content-type'] ?? '';
      return /^application\/json\b/i.test(type)
        ? []
        : [`The Content-Type is ${type === '' ? 'missing' : type}`];
    },
  },
  {
    id: 'http.utf8',
    requirements: ['IANA-001'],
    section: '14.1.1',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'What is sent is UTF-8.',
    remedy: 'Encode every answer in UTF-8, without a byte order mark.',
    versions: ['1.0', '0.3', '0.1'],
    check({ exchange, kind }) {
      if ((kind !== 'response' && kind !== 'stream') || exchange.body === '') return undefined;
      return exchange.hasInvalidUtf8 ? ['The answer is not UTF-8'] : [];
    },
  },
  {
    id: 'http.no-5xx',
    requirements: ['SEC-005', 'ERR-001'],
    section: '13.4',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'Nothing that a caller sends breaks the server: no 5xx, and no internal error.',
    remedy: 'Check what comes in, and refuse what is wrong with the error that fits.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'response' || observation.exchange.status === 0) return undefined;
      const { exchange, response } = observation;
      if (exchange.status >= 500 && exchange.status !== 501 && exchange.status !== 503)
        return [`HTTP ${exchange.status}: ${exchange.body.slice(0, 80)}`];
      if (response.error?.code === -32603) return [`Internal error: ${response.error.message.slice(0, 80)}`];
      return [];
    },
  },
  {
    id: 'http.no-leak',
    requirements: ['SEC-008', 'ERR-002'],
    section: '13.4',
    level: 'MUST',
    category: 'error-handling',
    sentence: 'Errors tell nothing of the inside: no stack, no path of a file, no credentials.',
    remedy: 'Log the cause, and send a sentence of your own.',
    versions: ['1.0', '0.3', '0.1'],
    check({ exchange, kind }) {
      if (kind !== 'response' || exchange.status === 0) return undefined;
      const body = parseJsonOrUndefined(exchange.body);
      if (exchange.status < 400 && !(isJsonObject(body) && isJsonObject(body.error))) return undefined;
      const leak =
        /\bat [\w.<>]+ \([^)]+:\d+:\d+\)|Traceback \(most recent call last\)|node_modules\/|File "[^"]+", line \d+/.exec(
          exchange.body,
        );
      const secret = exchange.requestHeaders.authorization?.replace(/^\S+\s+/, '');
      const wrong = leak ? [`The error shows the inside: ${leak[0].slice(0, 60)}`] : [];
      if (secret !== undefined && secret.length > 7 && exchange.body.includes(secret))
        wrong.push('The error repeats the credentials of the caller');
      return wrong;
    },
  },
]);
