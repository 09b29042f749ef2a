import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { asList } from '../../drivers/normalized-views.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

function call(
  probe: Probe,
  method: string,
  path: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<HttpExchange> {
  return probe.sendRaw({
    method,
    url: `${probe.driver.url.replace(/\/+$/, '')}${path}`,
    headers: {
      ...probe.driver.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}

/** The error of an answer, in the form of 11.6. */
function errorOf(exchange: HttpExchange): JsonObject {
  const body = parseJsonOrUndefined(exchange.body);
  return isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
}

const rule = {
  section: '11.6',
  level: 'MUST',
  category: 'error-handling',
  versions: ['1.0'],
  transports: ['HTTP+JSON'],
} as const;

/** REST: section 11. */
export const restChecks = defineChecks([
  {
    ...rule,
    id: 'rest.error-body',
    requirements: ['REST-012', 'ERR-017'],
    sentence: 'An error is {"error": {code, status, message, details}}, and its code is the HTTP status.',
    remedy: 'Send the form of google.rpc.Status: code 404, status NOT_FOUND, a message and details.',
    async run(probe) {
      const exchange = await call(probe, 'GET', `/tasks/${crypto.randomUUID()}`);
      const error = errorOf(exchange);
      probe.expect(exchange.status === 404, 'An unknown task has another status than 404', {
        expected: '404',
        actual: String(exchange.status),
      });
      probe.expect(error.code === 404, 'error.code is not the HTTP status', {
        expected: '404',
        actual: JSON.stringify(error.code),
      });
      probe.expect(error.status === 'NOT_FOUND', 'error.status is another one', {
        expected: 'NOT_FOUND',
        actual: JSON.stringify(error.status),
      });
      probe.expect(typeof error.message === 'string' && error.message !== '', 'error.message is missing');
    },
  },
  {
    ...rule,
    id: 'rest.error-info',
    requirements: ['REST-013', 'REST-016', 'REST-017', 'REST-018', 'ERR-018'],
    sentence: 'The details of an error hold an ErrorInfo with its reason and the domain a2a-protocol.org.',
    remedy:
      'Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}.',
    async run(probe) {
      const error = errorOf(await call(probe, 'GET', `/tasks/${crypto.randomUUID()}`));
      const details = (asList(error.details) ?? []) as JsonObject[];
      probe.expect(
        details.every((each) => isJsonObject(each) && typeof each['@type'] === 'string'),
        'A detail has no @type',
        { actual: JSON.stringify(details).slice(0, 200) },
      );
      const info = details.find((each) => each['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo');
      probe.expect(info !== undefined, 'There is no ErrorInfo', {
        actual: JSON.stringify(details).slice(0, 200),
      });
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
    id: 'rest.bad-request',
    requirements: ['REST-014', 'ERR-010'],
    level: 'SHOULD',
    sentence: 'What is wrong with a request is said in a BadRequest that names the field.',
    remedy: 'Add {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": …}]}.',
    async run(probe) {
      const exchange = await call(probe, 'GET', '/tasks?pageSize=150');
      const details = (asList(errorOf(exchange).details) ?? []) as JsonObject[];
      const bad = details.find((each) => String(each['@type']).endsWith('BadRequest'));
      probe.expect(exchange.status === 400, 'A wrong page size has another status than 400', {
        actual: String(exchange.status),
      });
      probe.expect(bad !== undefined, 'There is no BadRequest', {
        actual: JSON.stringify(details).slice(0, 200),
      });
      const [violation] = (asList(bad?.fieldViolations) ?? []) as JsonObject[];
      probe.expect(String(violation?.field).includes('pageSize'), 'The field is not named', {
        actual: JSON.stringify(violation),
      });
    },
  },
  {
    ...rule,
    id: 'rest.parse',
    requirements: ['IANA-002', 'ERR-009'],
    sentence: 'A body that is no JSON is refused with 400.',
    remedy: 'Catch what the parser throws.',
    async run(probe) {
      for (const body of ['{"message": ', 'hello', '[]', '"text"']) {
        const exchange = await call(probe, 'POST', '/message:send', body);
        probe.expect(exchange.status === 400, `${JSON.stringify(body)} has another status than 400`, {
          expected: '400',
          actual: String(exchange.status),
        });
      }
    },
  },
  {
    ...rule,
    id: 'rest.utf8',
    requirements: ['IANA-001'],
    section: '14.1.1',
    sentence: 'A body that is not UTF-8 is refused with 400.',
    remedy: 'Decode strictly.',
    async run(probe) {
      const head = Buffer.from('{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"');
      const body = Buffer.concat([head, Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}]}}')]);
      const exchange = await call(probe, 'POST', '/message:send', body);
      probe.expect(exchange.status === 400, 'Broken UTF-8 has another status than 400', {
        expected: '400',
        actual: String(exchange.status),
      });
    },
  },
  {
    ...rule,
    id: 'rest.params',
    requirements: ['IANA-002', 'ERR-009', 'JSON-009', 'SEC-005'],
    sentence: 'A body of the wrong shape is refused with 400.',
    remedy: 'Check every field before you use it.',
    async run(probe) {
      const bodies = [
        {},
        { message: 'hello' },
        { message: {} },
        { message: { messageId: 'm', role: 'ROLE_USER', parts: 'x' } },
        { message: { messageId: 17, role: 'ROLE_USER', parts: [{ text: 'x' }] } },
      ];
      for (const body of bodies) {
        const exchange = await call(probe, 'POST', '/message:send', JSON.stringify(body));
        probe.expect(exchange.status === 400, `${JSON.stringify(body)} has another status than 400`, {
          expected: '400',
          actual: String(exchange.status),
        });
      }
    },
  },
  {
    ...rule,
    id: 'rest.unknown-path',
    requirements: ['REST-012'],
    level: 'SHOULD',
    sentence: 'A path that does not exist is answered with 404 in JSON.',
    remedy: 'Answer unknown paths in the form of every other error.',
    async run(probe) {
      const exchange = await call(probe, 'GET', '/no/such/path/at/all');
      probe.expect(exchange.status === 404, 'An unknown path has another status than 404', {
        actual: String(exchange.status),
      });
      probe.expect(isJsonObject(parseJsonOrUndefined(exchange.body)), 'The answer is no JSON', {
        actual: exchange.body.slice(0, 80),
      });
    },
  },
  {
    ...rule,
    id: 'rest.routes',
    requirements: ['REST-005', 'BIND-001'],
    section: '11.3.1',
    category: 'lifecycle',
    sentence: 'All routes exist, without /v1 in front, be it that some are refused.',
    remedy: 'Serve the routes of 11.3.1 below the url of the interface.',
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
      for (const [verb, path, body] of routes) {
        const exchange = await call(probe, verb, path, body);
        const { details } = errorOf(exchange);
        const isThere =
          exchange.status < 400 ||
          (asList(details) ?? []).length > 0 ||
          exchange.status === 401 ||
          exchange.status === 403;
        probe.expect(
          isThere && exchange.status !== 405,
          `${verb} ${path.replace(id, '{id}')} does not exist`,
          { actual: `HTTP ${exchange.status}` },
        );
      }
    },
  },
  {
    ...rule,
    id: 'rest.subscribe-verbs',
    requirements: ['SUBS-005'],
    section: '3.1.6',
    category: 'streaming',
    sentence: 'A task is followed with POST or with GET.',
    remedy: 'Serve both verbs: the texts of the specification differ.',
    preconditions: ['streaming'],
    async run(probe) {
      const id = crypto.randomUUID();
      const answers = [
        await call(probe, 'POST', `/tasks/${id}:subscribe`, '{}'),
        await call(probe, 'GET', `/tasks/${id}:subscribe`),
      ];
      const isThere = answers.some(
        (exchange) => exchange.status === 404 && (asList(errorOf(exchange).details) ?? []).length > 0,
      );
      probe.expect(isThere, 'Neither verb leads to a subscription', {
        actual: answers.map(({ status }) => status).join(', '),
      });
    },
  },
  {
    ...rule,
    id: 'rest.types',
    requirements: ['REST-001'],
    section: '11.1',
    level: 'SHOULD',
    category: 'lifecycle',
    sentence: 'Answers have the type application/a2a+json, and requests of both types are taken.',
    remedy: 'Answer with application/a2a+json, and take application/json too.',
    async run(probe) {
      const task = await probe.completeTask();
      const exchange = await call(probe, 'GET', `/tasks/${task.id}`);
      const type = exchange.headers['content-type'] ?? '';
      probe.expect(type.startsWith('application/a2a+json'), 'The answer has another type', {
        expected: 'application/a2a+json',
        actual: type,
      });
      for (const sent of ['application/json', 'application/a2a+json']) {
        const said = probe.driver.encode('send', { message: probe.context.prompts.anyPrompt() });
        const answer = await call(probe, 'POST', '/message:send', String(said?.body), {
          'content-type': sent,
        });
        probe.expect(answer.status === 200, `A request of the type ${sent} was refused`, {
          actual: String(answer.status),
        });
      }
    },
  },
  {
    ...rule,
    id: 'rest.query',
    requirements: ['REST-008'],
    section: '11.5',
    category: 'lifecycle',
    sentence: 'Parameters of the query are understood by their names in camelCase.',
    remedy: 'Read contextId, pageSize, pageToken, historyLength, statusTimestampAfter and includeArtifacts.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      await probe.waitUntilTerminalOrInterrupted(task.id);
      const path = `/tasks?contextId=${encodeURIComponent(task.contextId ?? '')}&pageSize=1&includeArtifacts=true&historyLength=0`;
      const page = parseJsonOrUndefined((await call(probe, 'GET', path)).body);
      const tasks = (isJsonObject(page) ? (asList(page.tasks) ?? []) : []) as JsonObject[];
      probe.expect(tasks.length === 1 && tasks[0]?.id === task.id, 'contextId was not understood', {
        actual: JSON.stringify(tasks.map(({ id }) => id)),
      });
      probe.expect(isJsonObject(page) && page.pageSize === 1, 'pageSize was not understood', {
        actual: JSON.stringify((page as JsonObject).pageSize),
      });
      probe.expect('artifacts' in (tasks[0] ?? {}), 'includeArtifacts was not understood');
      probe.expect((asList(tasks[0]?.history) ?? []).length === 0, 'historyLength was not understood');
    },
  },
  {
    ...rule,
    id: 'rest.encoding',
    requirements: ['REST-011', 'REST-008'],
    section: '11.5',
    category: 'lifecycle',
    sentence: 'Values in the query are decoded before they are used.',
    remedy: 'Undo the percent encoding of every value, once, as UTF-8.',
    async run(probe) {
      const contextId = `a b&c=d/e+f%20-ü-${crypto.randomUUID()}`;
      const message = { ...probe.context.prompts.promptFor('completed'), contextId };
      const response = await probe.call('send', { message });
      const task = probe.driver.decodeTask(response.result);
      if (!task?.id)
        throw new InconclusiveError(
          `The agent takes no context of the caller's own: ${describeResponse(response)}`,
        );
      if (task.contextId !== contextId) throw new InconclusiveError('The agent has another context for it.');
      const { exchange, result } = await probe.call('list', { contextId });
      const found = isJsonObject(result) ? (asList(result.tasks) ?? []) : [];
      probe.expect(
        found.some((each) => isJsonObject(each) && each.id === task.id),
        'A contextId with characters that are encoded in an address was not understood',
        { expected: `the task ${task.id}`, actual: `${found.length} tasks`, exchanges: [exchange] },
      );
    },
  },
  {
    ...rule,
    id: 'rest.no-envelope',
    requirements: ['REST-021', 'REST-006'],
    section: '11.7',
    category: 'streaming',
    sentence: 'Answers and events of REST have no envelope of JSON-RPC.',
    remedy: 'Send the bare object.',
    async run(probe) {
      const response = await probe.call('send', { message: probe.context.prompts.anyPrompt() });
      probe.expect(
        isJsonObject(response.result) && !('jsonrpc' in response.result),
        'The answer has an envelope of JSON-RPC',
      );
      if (probe.capabilities.streaming !== true) return;
      const { exchange } = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('completed'),
      });
      const isBare = exchange.frames.every(({ data }) => data === undefined || !/"jsonrpc"/.test(data));
      probe.expect(isBare, 'Events have an envelope of JSON-RPC');
    },
  },
]);
