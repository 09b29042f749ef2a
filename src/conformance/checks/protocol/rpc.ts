import { must, should } from '../../rule-model.ts';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { RuleViolationError } from '../../check-errors.ts';
import { asText, listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import type { Probe } from '../../probe.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

function postBody(probe: Probe, body: string, contentType = 'application/json'): Promise<HttpExchange> {
  const { url, headers } = probe.driver;
  return probe.sendRaw({ method: 'POST', url, headers: { ...headers, 'content-type': contentType }, body });
}

/** Posts an unmodified body to the JSON-RPC endpoint and returns the JSON object of the response. */
async function post(probe: Probe, body: string): Promise<JsonObject> {
  const exchange = await postBody(probe, body);
  const response = parseJsonOrUndefined(exchange.body);
  if (!isJsonObject(response))
    throw new RuleViolationError(`HTTP ${exchange.status} without a JSON object`, {
      exchanges: [exchange],
      actual: exchange.body,
    });
  return response;
}

function expectError(probe: Probe, response: JsonObject, code: number, subject: string): void {
  const { error } = response;
  probe.expect(isJsonObject(error), `${subject} was not rejected`, { expected: code, actual: response });
  probe.expectEqual(objectOf(error).code, code, `${subject} was rejected with the wrong code`);
}

/** Posts a JSON-RPC request with replaced members and expects an error. */
async function expectRequestError(
  probe: Probe,
  members: JsonObject,
  code: number,
  subject: string,
): Promise<void> {
  const request = { jsonrpc: '2.0', id: 1, ...members };
  expectError(probe, await post(probe, JSON.stringify(request)), code, subject);
}

/** Expects the ErrorInfo of TaskNotFound. */
export function expectErrorInfo(probe: Probe, info: JsonObject | undefined): void {
  probe.expect(info !== undefined, 'The error has no ErrorInfo');
  probe.expectEqual(info?.reason, 'TASK_NOT_FOUND', 'ErrorInfo has the wrong reason');
  probe.expectEqual(info?.domain, 'a2a-protocol.org', 'ErrorInfo has the wrong domain');
}

const shared = {
  category: 'error-handling',
  versions: ['1.0'],
  transports: ['JSONRPC'],
  runsExclusively: true,
} as const;

/** JSON-RPC: section 9. */
export const rpcChecks = defineChecks(shared, [
  {
    id: 'rpc.parse',
    ...must('9.5', 'RPC-011', 'RPC-007'),
    sentence: 'The agent rejects invalid JSON with -32700 and the id null.',
    remedy: 'Catch parse errors, and return -32700.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      for (const body of ['{"jsonrpc": "2.0", "id": 1, "method": ', '', 'hello', '{"a":1}}']) {
        const response = await post(probe, body);
        const isEmptyRequest = body === '' && objectOf(response.error).code === -32600;
        const code = isEmptyRequest ? -32600 : -32700;
        expectError(probe, response, code, JSON.stringify(body));
        probe.expectEqual(response.id, null, 'The id of the response to invalid JSON is not null');
      }
    },
  },
  {
    id: 'rpc.invalid-request',
    ...must('9.5', 'RPC-011'),
    sentence: 'The agent rejects JSON that is not a JSON-RPC request with -32600.',
    remedy: 'Validate jsonrpc, method and id first.',
    versions: ['1.0', '0.3', '0.1'],
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
    id: 'rpc.version-mark',
    ...must('9.5', 'RPC-011'),
    sentence: 'The agent rejects a request without jsonrpc "2.0" with -32600.',
    remedy: 'Validate the member jsonrpc.',
    async run(probe) {
      const request = { method: 'GetTask', params: { id: 'x' } };
      for (const jsonrpc of [undefined, '1.0', 2]) {
        const subject = `jsonrpc ${JSON.stringify(jsonrpc)}`;
        await expectRequestError(probe, { jsonrpc, ...request }, -32600, subject);
      }
    },
  },
  {
    id: 'rpc.batch',
    ...must('9.5', 'RPC-011', 'RPC-007'),
    sentence: 'The agent responds to a batch with a batch or rejects it with -32600.',
    remedy: 'Return -32600 for arrays if batches are not supported.',
    async run(probe) {
      const request = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: crypto.randomUUID() } };
      const exchange = await postBody(probe, JSON.stringify([request]));
      const response = parseJsonOrUndefined(exchange.body);
      if (Array.isArray(response)) return;
      probe.expect(isJsonObject(response), `The response to a batch is HTTP ${exchange.status} without JSON`);
      expectError(probe, response as JsonObject, -32600, 'A batch');
    },
  },
  {
    id: 'rpc.object-id',
    ...must('9.5', 'RPC-007', 'RPC-011'),
    sentence: 'The agent rejects a request id that is an object, array or boolean with -32600.',
    remedy: 'Accept strings, numbers and null as request ids.',
    async run(probe) {
      const request = { method: 'GetTask', params: { id: 'x' } };
      for (const id of [{}, [], true])
        await expectRequestError(probe, { id, ...request }, -32600, `The id ${JSON.stringify(id)}`);
    },
  },
  {
    id: 'rpc.unknown-method',
    ...must('9.5', 'RPC-011', 'RPC-002'),
    sentence: 'The agent rejects an unknown method with -32601.',
    remedy: 'Return -32601 for unknown methods.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const methods = ['tasks/nonexistent', 'NoSuchMethod', 'constructor', '__proto__', 'toString'];
      for (const method of methods) await expectRequestError(probe, { method, params: {} }, -32601, method);
    },
  },
  {
    id: 'rpc.old-methods',
    ...must('9.1', 'RPC-002'),
    sentence: 'The agent rejects methods of 0.3 in requests of version 1.0.',
    remedy: 'Return -32601 for message/send if A2A-Version is 1.0.',
    async run(probe) {
      for (const method of ['message/send', 'tasks/get'])
        await expectRequestError(probe, { method, params: { id: 'x' } }, -32601, method);
    },
  },
  {
    id: 'rpc.methods',
    ...must('9.1', 'RPC-002', 'BIND-001'),
    sentence: 'The agent implements all eleven methods; unsupported ones return a defined error.',
    remedy: 'Return the error that A2A defines for an unsupported operation, not -32601.',
    async run(probe) {
      const id = crypto.randomUUID();
      const input = { id, taskId: id, webhook: { url: 'https://example.com/hook' } };
      const pushOperations = ['createPush', 'getPush', 'listPush', 'deletePush'] as const;
      for (const operation of ['get', 'cancel', 'list', ...pushOperations, 'extendedCard'] as const) {
        const { error } = await probe.call(operation, input);
        probe.expect(error?.code !== -32601, `The method for ${operation} does not exist`);
      }
    },
  },
  {
    id: 'rpc.params',
    ...must('9.5', 'RPC-011', 'ERR-009', 'JSON-009', 'IANA-002'),
    sentence: 'The agent rejects parameters of the wrong type with -32602.',
    remedy: 'Validate every parameter before use, and name the invalid one.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const cases = [
        ['get', { id: 17 }],
        ['get', { id: {} }],
        ['get', { id: null }],
        ['get', {}],
        ['send', {}],
        ['send', { message: 'hello' }],
        ['send', { message: {} }],
        ['send', { message: { role: 'x', parts: 'y' } }],
      ] as const;
      for (const [operation, params] of cases) {
        const request = probe.driver.encode(operation, {}, { transform: () => params });
        const response = await post(probe, String(request?.body));
        expectError(probe, response, -32602, `${operation} with ${JSON.stringify(params)}`);
      }
    },
  },
  {
    id: 'rpc.ids',
    ...must('9.3', 'RPC-007'),
    sentence: 'The response has the id of the request, with the same type.',
    remedy: 'Copy the id without conversion.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const task = crypto.randomUUID();
      for (const rpcId of ['a text', 17, 0, '17', 'ü✓', Number.MAX_SAFE_INTEGER]) {
        const response = await probe.call('get', { id: task }, { rpcId });
        const { id } = objectOf(parseJsonOrUndefined(response.exchange.body));
        const evidence = { expected: JSON.stringify(rpcId), actual: JSON.stringify(id) };
        probe.expect(id === rpcId, 'The response has another id', evidence);
      }
    },
  },
  {
    id: 'rpc.status',
    ...must('9.5', 'RPC-012', 'ERR-017', 'ERR-021'),
    sentence: 'An error has an integer code and a non-empty message.',
    remedy: 'Set code and message in every error.',
    versions: ['1.0', '0.3', '0.1'],
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const { code, message } = (response.error?.raw ?? {}) as { code?: unknown; message?: unknown };
      probe.expect(Number.isInteger(code), 'error.code is not an integer', { actual: code });
      probe.expect(asText(message), 'error.message is missing or empty', { actual: message });
    },
  },
  {
    id: 'rpc.details',
    ...must('9.5', 'RPC-013', 'ERR-018'),
    sentence: 'error.data is a list of objects with @type.',
    remedy: 'Return data as a list, and set @type in each object.',
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const details = response.error?.details;
      if (details === undefined || details === null) return;
      probe.expect(Array.isArray(details), 'error.data is not a list', { actual: details });
      const untyped = listOf(details).filter((each) => asText(objectOf(each)['@type']) === undefined);
      probe.expectEmpty(untyped, 'A detail of the error has no @type');
    },
  },
  {
    id: 'rpc.error-info',
    ...should('9.5', 'RPC-014', 'ERR-019'),
    sentence: 'An A2A error contains an ErrorInfo with its reason and the domain a2a-protocol.org.',
    remedy:
      'Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}.',
    async run(probe) {
      const response = await probe.call('get', { id: crypto.randomUUID() });
      const details = objectsOf(response.error?.details);
      expectErrorInfo(
        probe,
        details.find((each) => String(each['@type']).endsWith('ErrorInfo')),
      );
    },
  },
  {
    id: 'rpc.content-type',
    ...must('9.1', 'RPC-001'),
    sentence: 'The agent rejects a request with a content type other than JSON.',
    remedy: 'Accept application/json only.',
    async run(probe) {
      const request = probe.driver.encode('get', { id: crypto.randomUUID() });
      const exchange = await postBody(probe, String(request?.body), 'text/plain');
      const { code } = objectOf(objectOf(parseJsonOrUndefined(exchange.body)).error);
      // The task does not exist, so TaskNotFound shows that the agent processed the request.
      const isRejected = exchange.status >= 400 || (code !== undefined && code !== -32001);
      const message = 'A request with the content type text/plain was accepted';
      probe.expect(isRejected, message, { actual: exchange.body });
    },
  },
  {
    id: 'rpc.get-verb',
    ...should('9.1', 'RPC-001'),
    sentence: 'The JSON-RPC endpoint responds to GET with an error, not with an HTML page.',
    remedy: 'Return 405 with a JSON body.',
    async run(probe) {
      const { url, headers } = probe.driver;
      const { status, body } = await probe.sendRaw({ method: 'GET', url, headers });
      const isClientError = (status >= 400 && status < 500) || status === 501;
      probe.expect(isClientError, `The response to GET is HTTP ${status}`, { expected: 'HTTP 405' });
      probe.expect(!/<html/i.test(body), 'The response to GET is an HTML page', { actual: body });
    },
  },
]);
