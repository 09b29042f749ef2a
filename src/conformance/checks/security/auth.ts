import { type Check, defineChecks, type Precondition } from '../../check.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { OperationInput, DecodedResponse, DriverOperation } from '../../drivers/protocol-driver.ts';
import { isJsonObject } from '../../../primitives/json.ts';
import { asText } from '../../drivers/normalized-views.ts';
import { isAuthRejection, corruptCredentials } from './credentials.ts';

/** A check about credentials: id, requirements, section, level, sentence, remedy, and what it does. */
function about(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void>,
  needs: readonly Precondition[] = ['security'],
): Check {
  const rule = { id, requirements, section, level, category: 'error-handling' as const, sentence, remedy };
  return { ...rule, versions: ['1.0'], preconditions: needs, run };
}

/** Sends a message as somebody who may not. */
function limited(probe: Probe): Promise<DecodedResponse> {
  const { restrictedUserHeaders: limitedHeaders = {}, prompts: reach } = probe.context;
  return probe.withCredentials(limitedHeaders).call('send', { message: reach.anyPrompt() });
}

/** Everything that the agent offers, with what makes sense to ask: a task that is there where the caller could make one. */
async function offered(probe: Probe): Promise<[DriverOperation, OperationInput][]> {
  const hasCredentials = Object.keys(probe.context.headers).length > 0;
  const task = hasCredentials ? await probe.completeTask().catch(() => undefined) : undefined;
  const id = task?.id ?? crypto.randomUUID();
  const message = (): OperationInput => ({ message: probe.context.prompts.anyPrompt() });
  const { streaming, pushNotifications, extendedAgentCard } = probe.capabilities;
  return [
    ['send', message()],
    ['get', { id }],
    ['list', {}],
    ['cancel', { id }],
    ...(streaming === true
      ? ([
          ['stream', message()],
          ['subscribe', { id }],
        ] as [DriverOperation, OperationInput][])
      : []),
    ...(pushNotifications === true
      ? ([
          ['createPush', { taskId: id, webhook: { url: 'https://webhook.example.com/a2a' } }],
          ['getPush', { taskId: id, id: 'any' }],
          ['listPush', { taskId: id }],
          ['deletePush', { taskId: id, id: 'any' }],
        ] as [DriverOperation, OperationInput][])
      : []),
    ...(extendedAgentCard === true ? ([['extendedCard', {}]] as [DriverOperation, OperationInput][]) : []),
  ];
}

async function asked(
  probe: Probe,
  operation: DriverOperation,
  input: OperationInput,
): Promise<DecodedResponse> {
  if (operation !== 'stream' && operation !== 'subscribe') return probe.call(operation, input);
  const { exchange, error, events } = await probe.openStream(operation, input, { until: () => true });
  return { exchange, ...(error ? { error } : { result: events[0]?.raw }) };
}

async function allRefused(probe: Probe, as: Probe, who: string): Promise<void> {
  for (const [operation, input] of await offered(probe)) {
    const response = await asked(as, operation, input);
    if (!isAuthRejection(response))
      probe.warn(`${operation} is not refused ${who}: ${describeResponse(response)}`, {
        expected: 'HTTP 401',
        actual: describeResponse(response),
        exchanges: [response.exchange],
      });
  }
}

/** The schemes of HTTP that the card declares, in lower case; undefined where others are declared as well. */
function schemesOf({ card }: Probe): string[] {
  const schemes = isJsonObject(card.securitySchemes)
    ? Object.values(card.securitySchemes).filter(isJsonObject)
    : [];
  return schemes.flatMap((each) => {
    if (isJsonObject(each.httpAuthSecurityScheme))
      return [asText(each.httpAuthSecurityScheme.scheme)?.toLowerCase() ?? ''];
    return each.oauth2SecurityScheme || each.openIdConnectSecurityScheme ? ['bearer'] : [];
  });
}

async function anonymously(probe: Probe): Promise<DecodedResponse> {
  const response = await probe.withCredentials({}).call('get', { id: crypto.randomUUID() });
  if (!isAuthRejection(response))
    throw new InconclusiveError(`Nobody in particular is not refused: ${describeResponse(response)}`);
  return response;
}

/** Authentication: sections 3.3.2, 7.4 and 14.1.1, and authorization within a task: section 7.6. */
export const authChecks = defineChecks([
  about(
    'auth.anonymous',
    ['AUTH-004', 'ERR-003', 'IANA-005'],
    '7.4',
    'MUST',
    'Where the card requires security, no operation is for callers without credentials.',
    'Authenticate every request before it is looked at, whatever it asks for.',
    (probe) => allRefused(probe, probe.withCredentials({}), 'without credentials'),
  ),
  about(
    'auth.bad-credentials',
    ['AUTH-004', 'ERR-003', 'IANA-005'],
    '7.4',
    'MUST',
    'Where the card requires security, no operation is for callers with wrong credentials.',
    'Verify credentials, and do not only look whether there are any.',
    (probe) =>
      allRefused(
        probe,
        probe.withCredentials(corruptCredentials(probe.context.headers)),
        'with wrong credentials',
      ),
  ),
  about(
    'auth.status',
    ['AUTH-005', 'ERR-003'],
    '7.4',
    'SHOULD',
    'Who is not known is refused with HTTP 401.',
    'Answer with 401, over JSON-RPC as well.',
    async (probe) => {
      for (const as of [
        probe.withCredentials({}),
        probe.withCredentials(corruptCredentials(probe.context.headers)),
      ]) {
        const response = await as.call('get', { id: crypto.randomUUID() });
        probe.expect(response.exchange.status === 401, 'The refusal has another status', {
          expected: 'HTTP 401',
          actual: `HTTP ${response.exchange.status}`,
        });
      }
    },
  ),
  about(
    'auth.challenge',
    ['ERR-004', 'AUTH-006'],
    '7.4',
    'SHOULD',
    'A refusal for missing credentials says how to log in.',
    'Send WWW-Authenticate with 401.',
    async (probe) => {
      const { exchange } = await anonymously(probe);
      probe.expect(exchange.headers['www-authenticate'], 'There is no WWW-Authenticate', {
        expected: 'WWW-Authenticate: …',
        actual: 'none',
      });
    },
  ),
  about(
    'auth.challenge-scheme',
    ['ERR-005'],
    '3.3.2',
    'SHOULD',
    'A refusal for missing credentials names a scheme of the card.',
    'Name in WWW-Authenticate what securitySchemes declares.',
    async (probe) => {
      const said = (await anonymously(probe)).exchange.headers['www-authenticate'];
      const declared = schemesOf(probe);
      if (said === undefined || declared.length === 0) return;
      const named = said.split(',').map((each) => each.trim().split(' ')[0]?.toLowerCase() ?? '');
      probe.expect(
        declared.some((scheme) => named.includes(scheme)),
        'WWW-Authenticate names no scheme of the card',
        { expected: declared.join(' or '), actual: said },
      );
    },
  ),
  about(
    'auth.secret',
    ['SEC-008'],
    '13.4',
    'MUST',
    'Credentials do not come back in errors.',
    'Do not say which credentials were wrong.',
    async (probe) => {
      const secret = `wrong-${crypto.randomUUID()}`;
      const { exchange } = await probe
        .withCredentials(corruptCredentials(probe.context.headers, secret))
        .call('get', { id: crypto.randomUUID() });
      const answer = exchange.body + JSON.stringify(exchange.headers);
      probe.expect(!answer.includes(secret), 'The answer repeats the credentials that it refuses', {
        exchanges: [exchange],
      });
    },
  ),
  about(
    'auth.forbidden',
    ['ERR-006'],
    '3.3.2',
    'MUST',
    'A caller who is known and may not do something is told that it may not.',
    'Answer 403: 401 says that the caller is not known, and anything else that the request was wrong.',
    async (probe) => {
      const response = await limited(probe);
      const { status } = response.exchange;
      // Over JSON-RPC some say it with HTTP 200 and a code of their own.
      const isSaid =
        status === 403 ||
        (probe.driver.transport === 'JSONRPC' && isAuthRejection(response) && status === 200);
      probe.expect(isSaid, 'A caller who may not send messages was not told so', {
        expected: 'HTTP 403',
        actual: `HTTP ${status}, ${describeResponse(response)}`,
      });
    },
    ['security', 'restricted-user'],
  ),
  about(
    'auth.forbidden-hint',
    ['ERR-007'],
    '3.3.2',
    'SHOULD',
    'Who may not do something is told what would be enough.',
    'Name the scope: WWW-Authenticate with error="insufficient_scope" and scope, or in the message.',
    async (probe) => {
      const { exchange, error } = await limited(probe);
      const told = `${exchange.headers['www-authenticate'] ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.details ?? '')}`;
      probe.expect(
        /scope|role|permission (?:to|for)|requires|without/i.test(told),
        'Nothing is said about what is missing',
        {
          actual: told.trim(),
        },
      );
    },
    ['security', 'restricted-user'],
  ),
  about(
    'in-task-auth.state',
    ['INTASK-001', 'INTASK-002'],
    '7.6.1',
    'MUST',
    'An agent that needs authorization for a task says so with a task in the state for it.',
    'Keep the task, and set its state to TASK_STATE_AUTH_REQUIRED.',
    async (probe) => {
      const response = await probe.call('send', {
        message: probe.context.prompts.promptFor('auth-required'),
      });
      const task = probe.driver.decodeTask(response.result);
      probe.expect(task?.id, 'The need for authorization is answered with no task', {
        expected: 'a task in TASK_STATE_AUTH_REQUIRED',
        actual: describeResponse(response),
      });
      const rested = await probe.waitUntilTerminalOrInterrupted(task?.id ?? '');
      probe.expect(rested.state === 'auth-required', 'The task is in another state', {
        expected: 'auth-required',
        actual: rested.state,
      });
    },
    [],
  ),
  about(
    'in-task-auth.message',
    ['INTASK-003'],
    '7.6.1',
    'MUST',
    'A task that needs authorization explains which one.',
    'Put a message with parts into the status.',
    async (probe) => {
      const task = await probe.sendPrompt('auth-required');
      const { statusParts: said } = await probe.getTask(task.id);
      probe.expect((said ?? []).length > 0, 'The status has no message that explains it', {
        expected: 'status.message with parts',
        actual: 'none',
      });
    },
    [],
  ),
  about(
    'in-task-auth.follow-up',
    ['INTASK-007'],
    '7.6.1',
    'SHOULD',
    'A task that needs authorization takes messages.',
    'Let callers negotiate, correct or refuse.',
    async (probe) => {
      const { id: taskId } = await probe.sendPrompt('auth-required');
      const response = await probe.call('send', { message: { text: 'I have logged in', taskId } });
      probe.expect(
        !response.error && response.decodeError === undefined,
        'A message to the task was refused',
        {
          expected: 'a result',
          actual: describeResponse(response),
        },
      );
    },
    [],
  ),
]);
