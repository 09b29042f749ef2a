import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { RuleViolationError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';

/** Sends a body as it is to the JSON-RPC endpoint. */
async function post(
  probe: Probe,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<JsonObject> {
  const exchange = await probe.sendRaw({
    method: 'POST',
    url: probe.driver.url,
    headers: { 'content-type': 'application/json', ...probe.driver.headers, ...headers },
    body,
  });
  const answer = parseJsonOrUndefined(exchange.body);
  if (!isJsonObject(answer))
    throw new RuleViolationError(`HTTP ${exchange.status} without a JSON object`, {
      exchanges: [exchange],
      actual: exchange.body.slice(0, 120),
    });
  return answer;
}

/** Expects an error of JSON-RPC with a code. */
function expectError(probe: Probe, answer: JsonObject, code: number, what: string): void {
  const error = isJsonObject(answer.error) ? answer.error : undefined;
  probe.expect(error !== undefined, `${what} was not refused`, {
    expected: String(code),
    actual: JSON.stringify(answer).slice(0, 160),
  });
  probe.expect(error?.code === code, `${what} was refused with the wrong code`, {
    expected: String(code),
    actual: JSON.stringify(error?.code),
  });
}

const rule = {
  section: '9.5',
  level: 'MUST',
  category: 'error-handling',
  versions: ['1.0', '0.3', '0.1'],
  transports: ['JSONRPC'],
} as const;

/** JSON-RPC: section 9. */
export const rpcChecks = defineChecks([
  {
    ...rule,
    id: 'rpc.parse',
    requirements: ['RPC-011', 'RPC-007'],
    sentence: 'What is no JSON is refused with -32700 and the id null.',
    remedy: 'Catch what the parser throws, and answer -32700.',
    async run(probe) {
      for (const body of ['{"jsonrpc": "2.0", "id": 1, "method": ', '', 'hello', '{"a":1}}']) {
        const answer = await post(probe, body);
        const code =
          body === '' && isJsonObject(answer.error) && answer.error.code === -32600 ? -32600 : -32700;
        expectError(probe, answer, code, JSON.stringify(body));
        probe.expect(answer.id === null, 'The id of a request that cannot be read is not null', {
          expected: 'null',
          actual: JSON.stringify(answer.id) ?? 'no id at all',
        });
      }
    },
  },
  {
    ...rule,
    id: 'rpc.invalid-request',
    requirements: ['RPC-011'],
    sentence: 'What is JSON but no request is refused with -32600.',
    remedy: 'Check jsonrpc, method and id before anything else.',
    async run(probe) {
      const bodies = [
        '{"not": "valid jsonrpc"}',
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"method":17}',
        '"text"',
        '17',
      ];
      for (const body of bodies) expectError(probe, await post(probe, body), -32600, body);
    },
  },
  {
    ...rule,
    id: 'rpc.version-mark',
    requirements: ['RPC-011'],
    versions: ['1.0'],
    sentence: 'A request without jsonrpc "2.0" is refused with -32600.',
    remedy: 'Check the mark.',
    async run(probe) {
      for (const mark of [undefined, '1.0', 2])
        expectError(
          probe,
          await post(probe, JSON.stringify({ jsonrpc: mark, id: 1, method: 'GetTask', params: { id: 'x' } })),
          -32600,
          `jsonrpc ${JSON.stringify(mark)}`,
        );
    },
  },
  {
    ...rule,
    id: 'rpc.batch',
    requirements: ['RPC-011', 'RPC-007'],
    versions: ['1.0'],
    sentence: 'A batch is answered as a batch or refused with -32600; it never breaks anything.',
    remedy: 'Refuse lists with -32600 if you do not take batches.',
    async run(probe) {
      const request = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: crypto.randomUUID() } };
      const exchange = await probe.sendRaw({
        method: 'POST',
        url: probe.driver.url,
        headers: { 'content-type': 'application/json', ...probe.driver.headers },
        body: JSON.stringify([request]),
      });
      const answer = parseJsonOrUndefined(exchange.body);
      if (Array.isArray(answer)) return;
      probe.expect(isJsonObject(answer), `A batch was answered with HTTP ${exchange.status} and no JSON`);
      expectError(probe, answer as JsonObject, -32600, 'A batch');
    },
  },
  {
    ...rule,
    id: 'rpc.object-id',
    requirements: ['RPC-007', 'RPC-011'],
    versions: ['1.0'],
    sentence: 'An id that is an object or a list is refused with -32600.',
    remedy: 'Take texts, numbers and null as ids.',
    async run(probe) {
      for (const id of [{}, [], true])
        expectError(
          probe,
          await post(probe, JSON.stringify({ jsonrpc: '2.0', id, method: 'GetTask', params: { id: 'x' } })),
          -32600,
          `The id ${JSON.stringify(id)}`,
        );
    },
  },
  {
    ...rule,
    id: 'rpc.unknown-method',
    requirements: ['RPC-011', 'RPC-002'],
    sentence: 'A method that does not exist is refused with -32601.',
    remedy: 'Answer -32601 to methods that you do not know.',
    async run(probe) {
      const methods = ['tasks/nonexistent', 'NoSuchMethod', 'constructor', '__proto__', 'toString'];
      for (const method of methods)
        expectError(
          probe,
          await post(probe, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })),
          -32601,
          method,
        );
    },
  },
  {
    ...rule,
    id: 'rpc.old-methods',
    requirements: ['RPC-002'],
    versions: ['1.0'],
    section: '9.1',
    sentence: 'The methods of 0.3 do not exist in 1.0.',
    remedy: 'Refuse message/send with -32601 when A2A-Version is 1.0.',
    async run(probe) {
      for (const method of ['message/send', 'tasks/get'])
        expectError(
          probe,
          await post(probe, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: 'x' } })),
          -32601,
          method,
        );
    },
  },
  {
    ...rule,
    id: 'rpc.methods',
    requirements: ['RPC-002', 'BIND-001'],
    versions: ['1.0'],
    section: '9.1',
    sentence: 'All eleven methods exist, be it that some are refused.',
    remedy: 'Answer operations that you do not offer with their own error, not with -32601.',
    async run(probe) {
      const id = crypto.randomUUID();
      const asked = [
        'get',
        'cancel',
        'list',
        'createPush',
        'getPush',
        'listPush',
        'deletePush',
        'extendedCard',
      ] as const;
      for (const operation of asked) {
        const response = await probe.call(operation, {
          id,
          taskId: id,
          webhook: { url: 'https://example.com/hook' },
        });
        probe.expect(response.error?.code !== -32601, `${operation} does not exist`, {
          expected: 'another answer than -32601',
          actual: '-32601',
          exchanges: [response.exchange],
        });
      }
    },
  },
  {
    ...rule,
    id: 'rpc.params',
    requirements: ['RPC-011', 'ERR-009', 'JSON-009', 'IANA-002'],
    sentence: 'Parameters of the wrong kind are refused with -32602.',
    remedy: 'Check every parameter before you use it, and name the wrong one.',
    async run(probe) {
      const { driver } = probe;
      const wrong = [{ id: 17 }, { id: {} }, { id: null }, {}];
      for (const params of wrong) {
        const said = driver.encode('get', { id: 'x' }, { transform: () => params });
        const answer = await post(probe, String(said?.body));
        expectError(probe, answer, -32602, `get with ${JSON.stringify(params)}`);
      }
      for (const params of [
        {},
        { message: 'hello' },
        { message: {} },
        { message: { role: 'x', parts: 'y' } },
      ]) {
        const said = driver.encode('send', { message: {} }, { transform: () => params });
        expectError(
          probe,
          await post(probe, String(said?.body)),
          -32602,
          `send with ${JSON.stringify(params)}`,
        );
      }
    },
  },
  {
    ...rule,
    id: 'rpc.ids',
    requirements: ['RPC-007'],
    section: '9.3',
    sentence: 'The id of the answer is that of the request, of the same type.',
    remedy: 'Copy the id as it is.',
    async run(probe) {
      const task = crypto.randomUUID();
      for (const rpcId of ['a text', 17, 0, '17', 'ü✓', Number.MAX_SAFE_INTEGER]) {
        const response = await probe.call('get', { id: task }, { rpcId });
        const answer = parseJsonOrUndefined(response.exchange.body);
        const id = isJsonObject(answer) ? answer.id : undefined;
        probe.expect(id === rpcId, 'The id came back changed', {
          expected: JSON.stringify(rpcId),
          actual: JSON.stringify(id),
        });
      }
    },
  },
  {
    ...rule,
    id: 'rpc.status',
    requirements: ['RPC-012', 'ERR-017', 'ERR-021'],
    section: '9.5',
    sentence: 'An error has a number as its code and a text as its message.',
    remedy: 'Send code and message with every error.',
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const { code, message } = (response.error?.raw ?? {}) as { code?: unknown; message?: unknown };
      probe.expect(Number.isInteger(code), 'The code is no number', { actual: JSON.stringify(code) });
      probe.expect(typeof message === 'string' && message !== '', 'There is no message', {
        actual: JSON.stringify(message),
      });
    },
  },
  {
    ...rule,
    id: 'rpc.details',
    requirements: ['RPC-013', 'ERR-018'],
    versions: ['1.0'],
    sentence: 'The data of an error is a list of objects that each say their type.',
    remedy: 'Send data as a list, and give each object its @type.',
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const details = response.error?.details;
      if (details === undefined || details === null) return;
      probe.expect(Array.isArray(details), 'The data is no list', {
        actual: JSON.stringify(details).slice(0, 120),
      });
      for (const each of details as unknown[])
        probe.expect(isJsonObject(each) && typeof each['@type'] === 'string', 'A detail has no @type', {
          actual: JSON.stringify(each).slice(0, 120),
        });
    },
  },
  {
    ...rule,
    id: 'rpc.error-info',
    requirements: ['RPC-014', 'ERR-019'],
    versions: ['1.0'],
    level: 'SHOULD',
    sentence: 'An error of A2A has an ErrorInfo with its reason and the domain a2a-protocol.org.',
    remedy:
      'Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}.',
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const info = ((response.error?.details ?? []) as JsonObject[]).find((each) =>
        String(each['@type']).endsWith('ErrorInfo'),
      );
      probe.expect(info !== undefined, 'There is no ErrorInfo');
      probe.expect(info?.reason === 'TASK_NOT_FOUND', 'The reason is another one', {
        expected: 'TASK_NOT_FOUND',
        actual: JSON.stringify(info?.reason),
      });
      probe.expect(info?.domain === 'a2a-protocol.org', 'The domain is another one', {
        expected: 'a2a-protocol.org',
        actual: JSON.stringify(info?.domain),
      });
    },
  },
  {
    ...rule,
    id: 'rpc.content-type',
    requirements: ['RPC-001'],
    versions: ['1.0'],
    section: '9.1',
    sentence: 'A request that does not say that it is JSON is refused.',
    remedy: 'Take application/json only.',
    async run(probe) {
      const said = probe.driver.encode('get', { id: crypto.randomUUID() });
      const exchange = await probe.sendRaw({
        method: 'POST',
        url: probe.driver.url,
        headers: { ...probe.driver.headers, 'content-type': 'text/plain' },
        body: String(said?.body),
      });
      const answer = parseJsonOrUndefined(exchange.body);
      const { code } = (isJsonObject(answer) && isJsonObject(answer.error) ? answer.error : {}) as {
        code?: number;
      };
      // An unknown task was asked for, so whoever read the request says that it is not there.
      probe.expect(
        exchange.status >= 400 || (code !== undefined && code !== -32001),
        'A request of the type text/plain was taken',
        { actual: exchange.body.slice(0, 120) },
      );
    },
  },
  {
    ...rule,
    id: 'rpc.get-verb',
    requirements: ['RPC-001'],
    versions: ['1.0'],
    level: 'SHOULD',
    section: '9.1',
    sentence: 'The endpoint of JSON-RPC answers a GET with an error, and not with a page.',
    remedy: 'Answer 405 in JSON.',
    async run(probe) {
      const exchange = await probe.sendRaw({
        method: 'GET',
        url: probe.driver.url,
        headers: probe.driver.headers,
      });
      probe.expect(exchange.status >= 400, `GET was answered with ${exchange.status}`);
      probe.expect(!/<html/i.test(exchange.body), 'GET was answered with a page', {
        actual: exchange.body.slice(0, 80),
      });
    },
  },
]);
