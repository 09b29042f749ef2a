import { must, should } from '../../rule-model.ts';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { restingStates } from '../../observation/task-tracker.ts';
import { type NormalizedTask, asText, listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { expectCard, expectPublic } from '../card/card-check.ts';
import { authStatus, isEventStream } from '../../wire/http-exchange.ts';
import { stripTrailing } from '../../../primitives/text.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Expects required strings in each skill and returns the skills. */
function expectSkills(probe: Probe): JsonObject[] {
  const skills = objectsOf(probe.card.skills);
  for (const skill of skills)
    for (const field of ['id', 'name', 'description'])
      probe.expect(asText(skill[field]), `A skill has no ${field}`, { actual: skill });
  return skills;
}

function expectState(probe: Probe, task: NormalizedTask | undefined, expected: readonly string[]): void {
  const actual = task?.state ?? '';
  probe.expect(expected.includes(actual), 'The task has an unexpected state', { expected, actual });
}

/** Expects an event stream at a URL. */
async function expectStreamAt(probe: Probe, url: string): Promise<void> {
  const request = probe.driver.encode('stream', { message: probe.prompts.promptFor('completed') });
  if (!request) throw new InconclusiveError('The version has no streams.');
  const exchange = await probe.sendRaw({ ...request, url });
  const actual = `${exchange.status} ${exchange.headers['content-type']}`;
  probe.expect(isEventStream(exchange), `${url} returned no event stream`, { actual });
}

/** Rules of versions before 1.0; those of 0.1 follow its interoperability procedure. */
export const pre1_0Checks = defineChecks({ category: 'agent-card', versions: ['0.1'] }, [
  {
    id: 'card-0.1.fields',
    ...must('AgentCard', '0.1/card'),
    sentence: 'The card has name, description, url and skills.',
    remedy: 'Add the missing members.',
    about: 'card',
    async run(probe) {
      for (const field of ['name', 'description', 'url', 'skills']) {
        const value = probe.card[field];
        probe.expect(value !== undefined && value !== null && value !== '', `The card has no ${field}`);
      }
      probe.expect(Array.isArray(probe.card.skills), 'skills is not a list');
      probe.expect(isUrl(String(probe.card.url)), 'url is not a URL', { actual: probe.card.url });
    },
  },
  {
    id: 'card-0.1.skills',
    ...must('AgentSkill', '0.1/skill'),
    sentence: 'Each skill has id, name, description, inputModes and outputModes.',
    remedy: 'Add inputModes and outputModes to each skill.',
    about: 'card',
    async run(probe) {
      for (const skill of expectSkills(probe))
        for (const field of ['inputModes', 'outputModes'])
          probe.expect(listOf(skill[field]).length > 0, `Skill ${String(skill.id)} has no ${field}`);
    },
  },
  {
    id: 'card-0.1.authentication',
    ...must('AgentAuthentication', '0.1/authentication'),
    sentence: 'The card declares the token URL for OAuth 2 and the header name for an API key.',
    remedy: 'Add credentials.oauth2.tokenUrl or credentials.apiKey.headerName.',
    about: 'card',
    async run(probe) {
      const authentication = objectOf(probe.card.authentication);
      const schemes = listOf(authentication.schemes).map((each) => String(each).toLowerCase());
      const { credentials } = authentication;
      const settings = objectOf(
        typeof credentials === 'string' ? parseJsonOrUndefined(credentials) : credentials,
      );
      if (!schemes.includes('oauth2') && !schemes.includes('apikey'))
        throw new NotApplicableError('The card declares neither OAuth 2 nor an API key.');
      if (schemes.includes('oauth2'))
        probe.expect(asText(objectOf(settings.oauth2).tokenUrl), 'credentials.oauth2 has no tokenUrl');
      if (schemes.includes('apikey'))
        probe.expect(asText(objectOf(settings.apiKey).headerName), 'credentials.apiKey has no headerName');
    },
  },
  {
    id: 'card.flags',
    ...must('AgentCapabilities', '0.1/capabilities', '0.3/capabilities'),
    sentence: 'The capabilities of the card are booleans.',
    remedy: 'Set capabilities to true or false.',
    versions: ['0.1', '0.3'],
    about: 'card',
    async run(probe) {
      for (const name of ['streaming', 'pushNotifications', 'stateTransitionHistory']) {
        const value = probe.capabilities[name] ?? false;
        probe.expect(typeof value === 'boolean', `${name} is ${JSON.stringify(value)}`);
      }
    },
  },
  {
    id: 'card-before.found',
    ...must('5.3', '0.1/well-known-card', '0.3/well-known-card'),
    sentence: 'The agent serves the card as a JSON object at its well-known path.',
    remedy: 'Serve the card at /.well-known/agent-card.json (0.3) or /.well-known/agent.json (0.2 and 0.1).',
    versions: ['0.1', '0.3'],
    about: 'card',
    runsWithoutCard: true,
    async run(probe) {
      const { cardUrl: url } = probe.context;
      expectCard(probe, await probe.sendRaw({ method: 'GET', url, headers: { accept: 'application/json' } }));
    },
  },
  {
    id: 'card-before.public',
    runsWithoutCard: true,
    ...must('5.3', '0.1/public-card'),
    sentence: 'The agent serves the card without credentials.',
    remedy: 'Serve the well-known path without authentication; move private content to the extended card.',
    versions: ['0.1', '0.3'],
    about: 'card',
    async run(probe) {
      const anonymous = probe.withCredentials({});
      expectPublic(probe, await anonymous.sendRaw({ method: 'GET', url: probe.context.cardUrl }));
    },
  },
  {
    id: 'card-0.3.fields',
    ...must('5.5', '0.3/card'),
    sentence: 'The card has name, description, url, version, capabilities, default modes and skills.',
    remedy: 'Add the missing members.',
    versions: ['0.3'],
    about: 'card',
    async run(probe) {
      for (const field of ['name', 'description', 'url', 'version']) {
        const actual = probe.card[field];
        probe.expect(asText(actual), `The card has no ${field}`, { actual });
      }
      probe.expect(isJsonObject(probe.card.capabilities), 'The card has no capabilities');
      for (const field of ['defaultInputModes', 'defaultOutputModes', 'skills']) {
        const actual = probe.card[field];
        probe.expect(Array.isArray(actual), `${field} is not a list`, { actual });
      }
    },
  },
  {
    id: 'card-0.3.version',
    ...should('5.5', '0.3/protocol-version'),
    sentence: 'The card declares its protocolVersion.',
    remedy: 'Add protocolVersion: "0.3.0".',
    versions: ['0.3'],
    about: 'card',
    async run(probe) {
      const actual = probe.card.protocolVersion;
      const isValid = /^\d+\.\d+(\.\d+)?$/.test(asText(actual) ?? '');
      probe.expect(isValid, 'protocolVersion is missing or invalid', { actual });
    },
  },
  {
    id: 'card-0.3.skills',
    ...must('5.5.4', '0.3/skill'),
    sentence: 'Each skill has id, name, description and tags.',
    remedy: 'Add the missing members.',
    versions: ['0.3'],
    about: 'card',
    async run(probe) {
      for (const skill of expectSkills(probe))
        probe.expect(Array.isArray(skill.tags), `Skill ${String(skill.id)} has no tags`);
    },
  },
  {
    id: 'card-0.3.transports',
    ...must('5.6', '0.3/transports'),
    sentence: 'Every interface of the card responds in its declared transport.',
    remedy: 'Declare only interfaces that are served, and set preferredTransport to the transport of url.',
    versions: ['0.3'],
    about: 'card',
    async run(probe) {
      for (const driver of [probe.driver, ...probe.context.siblings])
        await probe.withDriver(driver).expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    id: 'stream.first-status',
    ...must('Streaming', '0.1/first-event'),
    category: 'streaming',
    sentence:
      'A stream starts with the status submitted or working, and ends with a final terminal or interrupted status.',
    remedy: 'Send a status before artifacts, and final: true with the last status.',
    preconditions: ['streaming'],
    async run(probe) {
      const { events } = await probe.streamPrompt('completed');
      const [first] = events;
      const last = events.at(-1);
      const isStart = first?.kind === 'status' && ['submitted', 'working'].includes(first.state);
      const message = 'The first event is not the status submitted or working';
      probe.expect(isStart, message, { actual: first?.raw });
      const isFinal = last?.kind === 'status' && last.final && restingStates.has(last.state);
      probe.expect(isFinal, 'The last event is not a final status', { actual: last?.raw });
    },
  },
  {
    id: 'history.transitions',
    ...must('stateTransitionHistory', '0.1/history'),
    category: 'lifecycle',
    sentence: 'An agent that declares stateTransitionHistory returns the history.',
    remedy: 'Store the history, or do not declare stateTransitionHistory.',
    versions: ['0.1', '0.3'],
    async run(probe) {
      if (probe.capabilities.stateTransitionHistory !== true)
        throw new NotApplicableError('The card does not declare stateTransitionHistory.');
      const task = await probe.completeTask();
      const { history } = await probe.getTask(task.id, 100);
      probe.expect(history?.[1], 'The history has fewer than two entries', { actual: history });
    },
  },
  {
    id: 'send.same-id',
    ...must('tasks/send', '0.1/task-id'),
    category: 'lifecycle',
    sentence: 'The agent uses the task id of the client.',
    remedy: 'Use the id of the request as the task id.',
    async run(probe) {
      const taskId = crypto.randomUUID();
      const message = { ...probe.prompts.promptFor('completed'), taskId };
      const task = probe.driver.decodeTask(await probe.expectResult('send', { message }));
      probe.expectEqual(task?.id, taskId, 'The task has another id');
      // The agent may not understand the prompt: input-required and failed are valid as well.
      expectState(probe, task, ['submitted', 'working', 'completed', 'input-required', 'failed']);
    },
  },
  {
    id: 'send.goes-on',
    ...must('tasks/send', '0.1/follow-up'),
    category: 'lifecycle',
    sentence: 'A task in the state input-required continues with the next message with its id.',
    remedy: 'Accept the next message of the task.',
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const message = { text: 'the first one', taskId: task.id, contextId: task.contextId ?? '' };
      const returned = probe.driver.decodeTask(await probe.expectResult('send', { message }));
      probe.expectEqual(returned?.id, task.id, 'The response contains another task');
      // Only the fixture is known to accept this reply; other agents may ask again.
      const asksAgain = probe.prompts.isFixture('input-required') ? [] : ['input-required'];
      expectState(probe, returned, ['working', 'completed', 'submitted', ...asksAgain]);
    },
  },
  {
    id: 'stream.subscribe-path',
    ...should('tasks/sendSubscribe', '0.1/subscribe-path'),
    category: 'streaming',
    sentence: 'The agent accepts tasks/sendSubscribe at /subscribe below the url.',
    remedy: 'Accept tasks/sendSubscribe at /subscribe as well; early clients use this path.',
    preconditions: ['streaming'],
    run: (probe) => expectStreamAt(probe, `${stripTrailing(probe.driver.url, '/')}/subscribe`),
  },
  {
    id: 'stream.at-url',
    ...should('tasks/sendSubscribe', '0.1/stream-url'),
    category: 'streaming',
    sentence: 'The agent accepts tasks/sendSubscribe at the url of the card.',
    remedy: 'Accept tasks/sendSubscribe at the url of the card, not only at /subscribe below it.',
    preconditions: ['streaming'],
    run: (probe) => expectStreamAt(probe, probe.driver.url),
  },
  {
    id: 'auth.required',
    ...must('4', '0.1/authentication-enforced', '0.3/authentication-enforced'),
    category: 'error-handling',
    sentence: 'The agent rejects requests without credentials with 401, or UNAUTHENTICATED over gRPC.',
    remedy: 'Verify credentials before the request is processed.',
    versions: ['0.1', '0.3'],
    preconditions: ['credentials'],
    async run(probe) {
      const response = await probe.withCredentials({}).call('get', { id: 'x' });
      probe.expectEqual(authStatus(response.exchange), 401, 'A request without credentials was not rejected');
    },
  },
]);
