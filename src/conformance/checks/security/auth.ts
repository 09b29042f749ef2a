import { checkFactory, defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asText } from '../../drivers/normalized-views.ts';
import {
  callAny,
  corruptCredentials,
  isAuthRejection,
  type DriverCall,
  pushCalls,
  streamCalls,
} from './credentials.ts';

const shared = { category: 'error-handling', versions: ['1.0'] } as const;
const authCheck = checkFactory({ ...shared, preconditions: ['security'] });
const restrictedUserCheck = checkFactory({ ...shared, preconditions: ['security', 'restricted-user'] });
const inTaskAuthCheck = checkFactory({ ...shared, preconditions: [] });

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
    if (!isAuthRejection(response))
      probe.warn(`${operation} is not rejected ${description}: ${describeResponse(response)}`, {
        expected: 'HTTP 401',
        actual: describeResponse(response),
        exchanges: [response.exchange],
      });
  }
}

/** Returns the HTTP authentication schemes that the card declares, in lower case. */
function declaredSchemes({ card }: Probe): string[] {
  const schemes = isJsonObject(card.securitySchemes)
    ? Object.values(card.securitySchemes).filter(isJsonObject)
    : [];
  return schemes.flatMap((each) => {
    if (isJsonObject(each.httpAuthSecurityScheme))
      return [asText(each.httpAuthSecurityScheme.scheme)?.toLowerCase() ?? ''];
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

/** Authentication: sections 3.3.2, 7.4 and 14.1.1, and in-task authorization: section 7.6. */
export const authChecks = defineChecks([
  authCheck(
    'auth.anonymous',
    ['AUTH-004', 'ERR-003', 'IANA-005'],
    '7.4',
    'MUST',
    'An agent whose card requires security rejects all operations without credentials.',
    'Authenticate every request before it is processed, for all operations.',
    (probe) => expectAllRejected(probe, probe.withCredentials({}), 'without credentials'),
  ),
  authCheck(
    'auth.bad-credentials',
    ['AUTH-004', 'ERR-003', 'IANA-005'],
    '7.4',
    'MUST',
    'An agent whose card requires security rejects all operations with invalid credentials.',
    'Verify credentials, not only their presence.',
    (probe) =>
      expectAllRejected(
        probe,
        probe.withCredentials(corruptCredentials(probe.context.headers)),
        'with invalid credentials',
      ),
  ),
  authCheck(
    'auth.status',
    ['AUTH-005', 'ERR-003'],
    '7.4',
    'SHOULD',
    'The agent rejects unauthenticated requests with HTTP 401.',
    'Return 401, also over JSON-RPC.',
    async (probe) => {
      for (const client of [
        probe.withCredentials({}),
        probe.withCredentials(corruptCredentials(probe.context.headers)),
      ]) {
        const response = await client.call('get', { id: crypto.randomUUID() });
        probe.expect(response.exchange.status === 401, 'The rejection has the wrong HTTP status', {
          expected: 'HTTP 401',
          actual: `HTTP ${response.exchange.status}`,
        });
      }
    },
  ),
  authCheck(
    'auth.challenge',
    ['ERR-004', 'AUTH-006'],
    '7.4',
    'SHOULD',
    'A 401 response has WWW-Authenticate.',
    'Set WWW-Authenticate in 401 responses.',
    async (probe) => {
      const { exchange } = await callAnonymously(probe);
      probe.expect(exchange.headers['www-authenticate'], 'WWW-Authenticate is missing', {
        expected: 'WWW-Authenticate: …',
        actual: 'none',
      });
    },
  ),
  authCheck(
    'auth.challenge-scheme',
    ['ERR-005'],
    '3.3.2',
    'SHOULD',
    'WWW-Authenticate contains a scheme that the card declares.',
    'Set WWW-Authenticate to a scheme of securitySchemes.',
    async (probe) => {
      const header = (await callAnonymously(probe)).exchange.headers['www-authenticate'];
      const declared = declaredSchemes(probe);
      if (header === undefined || declared.length === 0) return;
      const schemes = header.split(',').map((each) => each.trim().split(' ')[0]?.toLowerCase() ?? '');
      probe.expect(
        declared.some((scheme) => schemes.includes(scheme)),
        'WWW-Authenticate contains no scheme of the card',
        { expected: declared.join(' or '), actual: header },
      );
    },
  ),
  authCheck(
    'auth.secret',
    ['SEC-008'],
    '13.4',
    'MUST',
    'Error responses do not contain the credentials of the request.',
    'Do not include credentials in error messages.',
    async (probe) => {
      const secret = `wrong-${crypto.randomUUID()}`;
      const { exchange } = await probe
        .withCredentials(corruptCredentials(probe.context.headers, secret))
        .call('get', { id: crypto.randomUUID() });
      const response = exchange.body + JSON.stringify(exchange.headers);
      probe.expect(!response.includes(secret), 'The response contains the rejected credentials', {
        exchanges: [exchange],
      });
    },
  ),
  restrictedUserCheck(
    'auth.forbidden',
    ['ERR-006'],
    '3.3.2',
    'MUST',
    'The agent rejects an authenticated client without permission with 403.',
    'Return 403; use 401 only for missing or invalid credentials.',
    async (probe) => {
      const response = await sendAsRestrictedUser(probe);
      const { status } = response.exchange;
      // Over JSON-RPC some agents return HTTP 200 with a custom error code.
      const isRejected =
        status === 403 ||
        (probe.driver.transport === 'JSONRPC' && isAuthRejection(response) && status === 200);
      probe.expect(isRejected, 'A user that may not send messages was not rejected with 403', {
        expected: 'HTTP 403',
        actual: `HTTP ${status}, ${describeResponse(response)}`,
      });
    },
  ),
  restrictedUserCheck(
    'auth.forbidden-hint',
    ['ERR-007'],
    '3.3.2',
    'SHOULD',
    'A 403 response states the missing permission.',
    'Name the missing scope in WWW-Authenticate (error="insufficient_scope", scope) or in the message.',
    async (probe) => {
      const { exchange, error } = await sendAsRestrictedUser(probe);
      const text = `${exchange.headers['www-authenticate'] ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.details ?? '')}`;
      probe.expect(
        /scope|role|permission (?:to|for)|requires|without/i.test(text),
        'The response does not state the missing permission',
        {
          actual: text.trim(),
        },
      );
    },
  ),
  inTaskAuthCheck(
    'in-task-auth.state',
    ['INTASK-001', 'INTASK-002'],
    '7.6.1',
    'MUST',
    'An agent that requires authorization for a task returns the task in the state auth-required.',
    'Create the task, and set its state to TASK_STATE_AUTH_REQUIRED.',
    async (probe) => {
      const response = await probe.call('send', {
        message: probe.context.prompts.promptFor('auth-required'),
      });
      const task = probe.driver.decodeTask(response.result);
      probe.expect(task?.id, 'The agent returned no task', {
        expected: 'a task in TASK_STATE_AUTH_REQUIRED',
        actual: describeResponse(response),
      });
      const stopped = await probe.waitUntilTerminalOrInterrupted(task?.id ?? '');
      probe.expectEqual(stopped.state, 'auth-required', 'The task has another state');
    },
  ),
  inTaskAuthCheck(
    'in-task-auth.message',
    ['INTASK-003'],
    '7.6.1',
    'MUST',
    'A task in the state auth-required explains the required authorization.',
    'Set a status message with parts.',
    async (probe) => {
      const task = await probe.sendPrompt('auth-required');
      const { statusParts = [] } = await probe.getTask(task.id);
      probe.expect(statusParts.length > 0, 'The status has no message', {
        expected: 'status.message with parts',
        actual: 'none',
      });
    },
  ),
  inTaskAuthCheck(
    'in-task-auth.follow-up',
    ['INTASK-007'],
    '7.6.1',
    'SHOULD',
    'A task in the state auth-required accepts messages.',
    'Accept messages, so that clients can confirm, correct or decline.',
    async (probe) => {
      const { id: taskId } = await probe.sendPrompt('auth-required');
      const response = await probe.call('send', { message: { text: 'I have logged in', taskId } });
      probe.expect(
        !response.error && response.decodeError === undefined,
        'A message to the task was rejected',
        {
          expected: 'a result',
          actual: describeResponse(response),
        },
      );
    },
  ),
]);
