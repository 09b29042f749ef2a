import { must, should } from '../../rule-model.ts';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { asText, listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { expectErrorInfo } from './rpc.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';
import { stripTrailing } from '../../../primitives/text.ts';

function sendRequest(
  probe: Probe,
  method: string,
  path: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<HttpExchange> {
  return probe.sendRaw({
    method,
    url: `${stripTrailing(probe.driver.url, '/')}${path}`,
    headers: {
      ...probe.driver.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the error of a response in the format of section 11.6, or an empty object. */
function decodeError(exchange: HttpExchange): JsonObject {
  return objectOf(objectOf(parseJsonOrUndefined(exchange.body)).error);
}

function expectStatus(probe: Probe, { status }: HttpExchange, expected: number, subject: string): void {
  probe.expectEqual(status, expected, `${subject} has the wrong HTTP status`);
}

const shared = {
  category: 'error-handling',
  versions: ['1.0'],
  transports: ['HTTP+JSON'],
  runsExclusively: true,
} as const;

/** REST: section 11. */
export const restChecks = defineChecks(shared, [
  {
    id: 'rest.error-body',
    ...must('11.6', 'REST-012', 'ERR-017'),
    sentence:
      'An error response is {"error": {code, status, message, details}}, with the HTTP status as code.',
    remedy: 'Return the format of google.rpc.Status: code 404, status NOT_FOUND, a message and details.',
    async run(probe) {
      const exchange = await sendRequest(probe, 'GET', `/tasks/${crypto.randomUUID()}`);
      const error = decodeError(exchange);
      expectStatus(probe, exchange, 404, 'The response for an unknown task');
      probe.expectEqual(error.code, 404, 'error.code is not the HTTP status');
      probe.expectEqual(error.status, 'NOT_FOUND', 'error.status has the wrong value');
      probe.expect(typeof error.message === 'string' && error.message !== '', 'error.message is missing');
    },
  },
  {
    id: 'rest.error-info',
    ...must('11.6', 'REST-013', 'REST-016', 'REST-017', 'REST-018', 'ERR-018'),
    sentence: 'The details of an error contain an ErrorInfo with its reason and the domain a2a-protocol.org.',
    remedy:
      'Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}.',
    async run(probe) {
      const error = decodeError(await sendRequest(probe, 'GET', `/tasks/${crypto.randomUUID()}`));
      const details = objectsOf(error.details);
      const untyped = listOf(error.details).filter((each) => !asText(objectOf(each)['@type']));
      probe.expectEmpty(untyped, 'A detail of the error has no @type');
      const info = details.find((each) => each['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo');
      expectErrorInfo(probe, info);
    },
  },
  {
    id: 'rest.bad-request',
    ...should('11.6', 'REST-014', 'ERR-010'),
    sentence: 'The error for an invalid request contains a BadRequest that names the field.',
    remedy: 'Add {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": …}]}.',
    async run(probe) {
      const exchange = await sendRequest(probe, 'GET', '/tasks?pageSize=150');
      const details = objectsOf(decodeError(exchange).details);
      const badRequest = details.find((each) => String(each['@type']).endsWith('BadRequest'));
      expectStatus(probe, exchange, 400, 'The response for an invalid pageSize');
      probe.expect(badRequest !== undefined, 'The error has no BadRequest', { actual: details });
      const [violation] = objectsOf(badRequest?.fieldViolations);
      const isNamed = String(violation?.field).includes('pageSize');
      probe.expect(isNamed, 'BadRequest does not name the field', { actual: violation });
    },
  },
  {
    id: 'rest.parse',
    ...must('11.6', 'IANA-002', 'ERR-009'),
    sentence: 'The agent rejects a body that is not a JSON object with 400.',
    remedy: 'Catch parse errors, and return 400.',
    async run(probe) {
      for (const body of ['{"message": ', 'hello', '[]', '"text"']) {
        const exchange = await sendRequest(probe, 'POST', '/message:send', body);
        expectStatus(probe, exchange, 400, `The response for ${JSON.stringify(body)}`);
      }
    },
  },
  {
    id: 'rest.utf8',
    ...must('14.1.1', 'IANA-001'),
    sentence: 'The agent rejects a body that is not UTF-8 with 400.',
    remedy: 'Decode UTF-8 strictly, and return 400.',
    async run(probe) {
      const head = Buffer.from('{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"');
      const body = Buffer.concat([head, Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}]}}')]);
      const exchange = await sendRequest(probe, 'POST', '/message:send', body);
      expectStatus(probe, exchange, 400, 'The response for invalid UTF-8');
    },
  },
  {
    id: 'rest.params',
    ...must('11.6', 'IANA-002', 'ERR-009', 'JSON-009', 'SEC-005'),
    sentence: 'The agent rejects a body that violates the schema with 400.',
    remedy: 'Validate every field before use.',
    async run(probe) {
      const bodies = [
        {},
        { message: 'hello' },
        { message: {} },
        { message: { messageId: 'm', role: 'ROLE_USER', parts: 'x' } },
        { message: { messageId: 17, role: 'ROLE_USER', parts: [{ text: 'x' }] } },
      ];
      for (const body of bodies) {
        const exchange = await sendRequest(probe, 'POST', '/message:send', JSON.stringify(body));
        expectStatus(probe, exchange, 400, `The response for ${JSON.stringify(body)}`);
      }
    },
  },
  {
    id: 'rest.unknown-path',
    ...should('11.6', 'REST-012'),
    sentence: 'The agent responds to an unknown path with 404 and a JSON body.',
    remedy: 'Return the error format of the protocol for unknown paths.',
    async run(probe) {
      const exchange = await sendRequest(probe, 'GET', '/no/such/path/at/all');
      expectStatus(probe, exchange, 404, 'The response for an unknown path');
      const isObject = isJsonObject(parseJsonOrUndefined(exchange.body));
      probe.expect(isObject, 'The response is not a JSON object', { actual: exchange.body });
    },
  },
  {
    id: 'rest.routes',
    ...must('11.3.1', 'REST-005', 'BIND-001'),
    category: 'lifecycle',
    sentence:
      'The agent implements all routes, without the prefix /v1; unsupported ones return a defined error.',
    remedy: 'Serve the routes of section 11.3.1 below the url of the interface.',
    async run(probe) {
      const id = crypto.randomUUID();
      const routes: [string, string, string?][] = [
        ['GET', '/tasks?pageSize=1'],
        ['POST', `/tasks/${id}:cancel`, '{}'],
        ['GET', `/tasks/${id}`],
        ['POST', `/tasks/${id}/pushNotificationConfigs`, '{"url":"https://example.com/hook"}'],
        ['GET', `/tasks/${id}/pushNotificationConfigs`],
        ['GET', `/tasks/${id}/pushNotificationConfigs/c`],
        ['DELETE', `/tasks/${id}/pushNotificationConfigs/c`],
        ['GET', '/extendedAgentCard'],
      ];
      for (const [method, path, body] of routes) {
        const exchange = await sendRequest(probe, method, path, body);
        const { status: actual } = exchange;
        const hasDetails = listOf(decodeError(exchange).details).length > 0;
        const exists = actual !== 405 && (actual < 400 || hasDetails || actual === 401 || actual === 403);
        probe.expect(exists, `${method} ${path.replace(id, '{id}')} does not exist`, { actual });
      }
    },
  },
  {
    id: 'rest.subscribe-verbs',
    ...must('3.1.6', 'SUBS-005'),
    category: 'streaming',
    sentence: 'The agent accepts subscriptions with POST or GET.',
    remedy: 'Support both methods: sections of the specification differ.',
    preconditions: ['streaming'],
    async run(probe) {
      const id = crypto.randomUUID();
      const exchanges = [
        await sendRequest(probe, 'POST', `/tasks/${id}:subscribe`, '{}'),
        await sendRequest(probe, 'GET', `/tasks/${id}:subscribe`),
      ];
      const exists = exchanges.some(
        (exchange) => exchange.status === 404 && listOf(decodeError(exchange).details).length > 0,
      );
      const actual = exchanges.map(({ status }) => status);
      probe.expect(exists, 'Neither POST nor GET subscribes to a task', { actual });
    },
  },
  {
    id: 'rest.types',
    ...should('11.1', 'REST-001'),
    category: 'lifecycle',
    sentence: 'The agent returns application/a2a+json, and accepts it and application/json.',
    remedy: 'Return application/a2a+json, and accept application/json as well.',
    async run(probe) {
      const task = await probe.completeTask();
      const exchange = await sendRequest(probe, 'GET', `/tasks/${task.id}`);
      const [type] = (exchange.headers['content-type'] ?? '').split(';');
      probe.expectEqual(type, 'application/a2a+json', 'The response has the wrong content type');
      for (const contentType of ['application/json', 'application/a2a+json']) {
        const request = probe.driver.encode('send', { message: probe.prompts.anyPrompt() });
        const headers = { 'content-type': contentType };
        const body = String(request?.body);
        const response = await sendRequest(probe, 'POST', '/message:send', body, headers);
        expectStatus(probe, response, 200, `The response to a request of the type ${contentType}`);
      }
    },
  },
  {
    id: 'rest.query',
    ...must('11.5', 'REST-008'),
    category: 'lifecycle',
    sentence: 'The agent evaluates query parameters with camelCase names.',
    remedy:
      'Support contextId, pageSize, pageToken, historyLength, statusTimestampAfter and includeArtifacts.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      await probe.waitUntilTerminalOrInterrupted(task.id);
      const path = `/tasks?contextId=${encodeURIComponent(task.contextId ?? '')}&pageSize=1&includeArtifacts=true&historyLength=0`;
      const page = objectOf(parseJsonOrUndefined((await sendRequest(probe, 'GET', path)).body));
      const tasks = objectsOf(page.tasks);
      const ids = tasks.map(({ id }) => String(id));
      probe.expectSameItems(ids, [task.id], 'contextId was ignored');
      probe.expectEqual(page.pageSize, 1, 'pageSize was ignored');
      probe.expect('artifacts' in (tasks[0] ?? {}), 'includeArtifacts was ignored');
      probe.expect(listOf(tasks[0]?.history).length === 0, 'historyLength was ignored');
    },
  },
  {
    id: 'rest.encoding',
    ...must('11.5', 'REST-011', 'REST-008'),
    category: 'lifecycle',
    sentence: 'The agent decodes percent-encoded query parameters.',
    remedy: 'Percent-decode every value once, as UTF-8.',
    async run(probe) {
      const contextId = `a b&c=d/e+f%20-ü-${crypto.randomUUID()}`;
      const message = { ...probe.prompts.promptFor('completed'), contextId };
      const response = await probe.call('send', { message });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id || task.contextId !== contextId)
        throw new InconclusiveError(
          `The agent rejects or replaces the contextId of the client: ${describeResponse(response)}`,
        );
      const { exchange, result } = await probe.call('list', { contextId });
      const found = objectsOf(objectOf(result).tasks).map(({ id }) => id);
      const evidence = { expected: task.id, actual: found, exchanges: [exchange] };
      probe.expect(found.includes(task.id), 'A percent-encoded contextId was not decoded', evidence);
    },
  },
  {
    id: 'rest.no-envelope',
    ...must('11.7', 'REST-021', 'REST-006'),
    category: 'streaming',
    sentence: 'REST responses and events have no JSON-RPC envelope.',
    remedy: 'Send the object without an envelope.',
    async run(probe) {
      const response = await probe.call('send', { message: probe.prompts.anyPrompt() });
      probe.expect(
        isJsonObject(response.result) && !('jsonrpc' in response.result),
        'The response has a JSON-RPC envelope',
      );
      if (probe.capabilities.streaming !== true) return;
      const { exchange } = await probe.streamPrompt('completed');
      const isBare = exchange.frames.every(({ data }) => data === undefined || !/"jsonrpc"/.test(data));
      probe.expect(isBare, 'Events have a JSON-RPC envelope');
    },
  },
]);
