import { jsonTransports, must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { authStatus } from '../../wire/http-exchange.ts';
import { asText, objectOf } from '../../drivers/normalized-views.ts';
import {
  callAny,
  isAuthRejection,
  type DriverCall,
  pushCalls,
  streamCalls,
  withInvalidCredentials,
} from './credentials.ts';

/** Sends a message as a user that may not send messages. */
function sendAsRestrictedUser(probe: Probe): Promise<DecodedResponse> {
  const { restrictedUserHeaders = {}, prompts } = probe.context;
  return probe.withCredentials(restrictedUserHeaders).call('send', { message: prompts.anyPrompt() });
}

/** Returns a call of every supported operation, for an existing task if one can be created. */
async function supportedCalls(probe: Probe): Promise<DriverCall[]> {
  const hasCredentials = Object.keys(probe.context.headers).length > 0;
  const task = hasCredentials ? await probe.completeTask().catch(() => undefined) : undefined;
  const id = task?.id ?? crypto.randomUUID();
  const { prompts } = probe.context;
  return [
    ['send', { message: prompts.anyPrompt() }],
    ['get', { id }],
    ['list', {}],
    ['cancel', { id }],
    ...streamCalls(probe, [
      ['stream', { message: prompts.anyPrompt() }],
      ['subscribe', { id }],
    ]),
    ...pushCalls(probe, id, 'any'),
    ...(probe.capabilities.extendedAgentCard === true ? [['extendedCard', {}] satisfies DriverCall] : []),
  ];
}

async function expectAllRejected(probe: Probe, client: Probe, description: string): Promise<void> {
  for (const [operation, input] of await supportedCalls(probe)) {
    const response = await callAny(client, operation, input);
    const actual = describeResponse(response);
    const evidence = { expected: 'HTTP 401 or UNAUTHENTICATED', actual, exchanges: [response.exchange] };
    if (!isAuthRejection(response))
      probe.warn(`${operation} is not rejected ${description}: ${actual}`, evidence);
  }
}

/** Returns the HTTP authentication schemes that the card declares, in lower case. */
function declaredSchemes({ card }: Probe): string[] {
  return Object.values(objectOf(card.securitySchemes)).flatMap((scheme) => {
    const each = objectOf(scheme);
    const { scheme: httpScheme } = objectOf(each.httpAuthSecurityScheme);
    if (asText(httpScheme) !== undefined) return [String(httpScheme).toLowerCase()];
    return each.oauth2SecurityScheme || each.openIdConnectSecurityScheme ? ['bearer'] : [];
  });
}

async function callAnonymously(probe: Probe): Promise<DecodedResponse> {
  const response = await probe.withCredentials({}).call('get', { id: crypto.randomUUID() });
  if (!isAuthRejection(response))
    throw new InconclusiveError(
      `A request without credentials was not rejected: ${describeResponse(response)}`,
    );
  return response;
}

const shared = { category: 'error-handling', versions: ['1.0'], preconditions: ['security'] } as const;

/** Authentication: sections 3.3.2, 7.4 and 14.1.1, and in-task authorization: section 7.6. */
export const authChecks = defineChecks(shared, [
  {
    id: 'auth.anonymous',
    ...must('7.4', 'AUTH-004', 'ERR-003', 'IANA-005'),
    sentence: 'An agent whose card requires security rejects all operations without credentials.',
    remedy: 'Authenticate every request before it is processed, for all operations.',
    run: (probe) => expectAllRejected(probe, probe.withCredentials({}), 'without credentials'),
  },
  {
    id: 'auth.bad-credentials',
    ...must('7.4', 'AUTH-004', 'ERR-003', 'IANA-005'),
    sentence: 'An agent whose card requires security rejects all operations with invalid credentials.',
    remedy: 'Verify credentials, not only their presence.',
    run: (probe) => expectAllRejected(probe, withInvalidCredentials(probe), 'with invalid credentials'),
  },
  {
    id: 'auth.status',
    ...should('7.4', 'AUTH-005', 'ERR-003'),
    sentence: 'The agent rejects unauthenticated requests with HTTP 401, or UNAUTHENTICATED over gRPC.',
    remedy: 'Return 401, also over JSON-RPC, and UNAUTHENTICATED over gRPC.',
    async run(probe) {
      for (const client of [probe.withCredentials({}), withInvalidCredentials(probe)]) {
        const response = await client.call('get', { id: crypto.randomUUID() });
        const message = 'The rejection has the wrong status';
        probe.expectEqual(authStatus(response.exchange), 401, message, {
          actual: describeResponse(response),
        });
      }
    },
  },
  {
    id: 'auth.challenge',
    ...should('7.4', 'ERR-004', 'AUTH-006'),
    sentence: 'A 401 response has WWW-Authenticate.',
    remedy: 'Set WWW-Authenticate in 401 responses.',
    transports: jsonTransports,
    async run(probe) {
      const { exchange } = await callAnonymously(probe);
      probe.expect(exchange.headers['www-authenticate'], 'WWW-Authenticate is missing');
    },
  },
  {
    id: 'auth.challenge-scheme',
    ...should('3.3.2', 'ERR-005'),
    sentence: 'WWW-Authenticate contains a scheme that the card declares.',
    remedy: 'Set WWW-Authenticate to a scheme of securitySchemes.',
    transports: jsonTransports,
    async run(probe) {
      const header = (await callAnonymously(probe)).exchange.headers['www-authenticate'];
      const declared = declaredSchemes(probe);
      if (header === undefined || declared.length === 0) return;
      const schemes = header.split(',').map((each) => each.trim().split(' ')[0]?.toLowerCase() ?? '');
      const isDeclared = declared.some((scheme) => schemes.includes(scheme));
      const evidence = { expected: declared.join(' or '), actual: header };
      probe.expect(isDeclared, 'WWW-Authenticate contains no scheme of the card', evidence);
    },
  },
  {
    id: 'auth.secret',
    ...must('13.4', 'SEC-008'),
    sentence: 'Error responses do not contain the credentials of the request.',
    remedy: 'Do not include credentials in error messages.',
    async run(probe) {
      const secret = `wrong-${crypto.randomUUID()}`;
      const client = withInvalidCredentials(probe, secret);
      const { exchange } = await client.call('get', { id: crypto.randomUUID() });
      const response = exchange.body + JSON.stringify([exchange.headers, exchange.grpc?.trailers]);
      probe.expect(!response.includes(secret), 'The response contains the rejected credentials');
    },
  },
  {
    id: 'auth.forbidden',
    ...must('3.3.2', 'ERR-006'),
    sentence:
      'The agent rejects an authenticated client without permission with 403, or PERMISSION_DENIED over gRPC.',
    remedy: 'Return 403 or PERMISSION_DENIED; use 401 only for missing or invalid credentials.',
    preconditions: ['security', 'restricted-user'],
    async run(probe) {
      const response = await sendAsRestrictedUser(probe);
      const { status } = response.exchange;
      // Over JSON-RPC some agents return HTTP 200 with a custom error code.
      const isRpcError = probe.driver.transport === 'JSONRPC' && isAuthRejection(response);
      const isRejected = authStatus(response.exchange) === 403 || (isRpcError && status === 200);
      probe.expect(isRejected, 'A user that may not send messages was not rejected with 403', {
        expected: 'HTTP 403 or PERMISSION_DENIED',
        actual: `HTTP ${status}, ${describeResponse(response)}`,
      });
    },
  },
  {
    id: 'auth.forbidden-hint',
    ...should('3.3.2', 'ERR-007'),
    sentence: 'A 403 response states the missing permission.',
    remedy:
      'Name the missing scope in WWW-Authenticate (error="insufficient_scope", scope) or in the message.',
    preconditions: ['security', 'restricted-user'],
    async run(probe) {
      const { exchange, error } = await sendAsRestrictedUser(probe);
      const text = `${exchange.headers['www-authenticate'] ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.details ?? '')}`;
      const isStated = /scope|role|permission (?:to|for)|requires|without/i.test(text);
      probe.expect(isStated, 'The response does not state the missing permission', { actual: text });
    },
  },
  {
    id: 'in-task-auth.state',
    ...must('7.6.1', 'INTASK-001', 'INTASK-002'),
    sentence: 'An agent that requires authorization for a task returns the task in the state auth-required.',
    remedy: 'Create the task, and set its state to TASK_STATE_AUTH_REQUIRED.',
    preconditions: [],
    async run(probe) {
      const response = await probe.call('send', { message: probe.prompts.promptFor('auth-required') });
      const task = probe.driver.decodeTask(response.result);
      probe.expect(task?.id, 'The agent returned no task', {
        expected: 'a task in TASK_STATE_AUTH_REQUIRED',
        actual: describeResponse(response),
      });
      const stopped = await probe.waitUntilTerminalOrInterrupted(task?.id ?? '');
      probe.expectEqual(stopped.state, 'auth-required', 'The task has another state');
    },
  },
  {
    id: 'in-task-auth.message',
    ...must('7.6.1', 'INTASK-003'),
    sentence: 'A task in the state auth-required explains the required authorization.',
    remedy: 'Set a status message with parts.',
    preconditions: [],
    async run(probe) {
      const task = await probe.sendPrompt('auth-required');
      const { statusParts = [] } = await probe.getTask(task.id);
      probe.expect(statusParts.length > 0, 'The status has no message');
    },
  },
  {
    id: 'in-task-auth.follow-up',
    ...should('7.6.1', 'INTASK-007'),
    sentence: 'A task in the state auth-required accepts messages.',
    remedy: 'Accept messages, so that clients can confirm, correct or decline.',
    preconditions: [],
    async run(probe) {
      const { id: taskId } = await probe.sendPrompt('auth-required');
      const response = await probe.call('send', { message: { text: 'I have logged in', taskId } });
      probe.expectSuccess(response, 'A message to the task was rejected');
    },
  },
]);
