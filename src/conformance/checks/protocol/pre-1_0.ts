import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { interruptedStates, terminalStates } from '../../observation/task-tracker.ts';
import { asList } from '../../drivers/normalized-views.ts';

const rule = { level: 'MUST', category: 'agent-card', about: 'card' } as const;

function skills({ card }: Probe): JsonObject[] {
  return (asList(card.skills) ?? []).filter(isJsonObject);
}

/** What versions before 1.0 ask beyond what all versions share; the steps for 0.1 are those of the interoperability procedure. */
export const pre1_0Checks = defineChecks([
  {
    ...rule,
    id: 'card-0.1.fields',
    requirements: ['0.1/card'],
    section: 'AgentCard',
    versions: ['0.1'],
    sentence: 'A card has a name, a description, a url and skills.',
    remedy: 'Add what is missing.',
    async run(probe) {
      for (const field of ['name', 'description', 'url', 'skills']) {
        const value = probe.card[field];
        probe.expect(value !== undefined && value !== null && value !== '', `The card has no ${field}`);
      }
      probe.expect(Array.isArray(probe.card.skills), 'skills is no list');
      probe.expect(URL.canParse(String(probe.card.url)), 'url is no address', {
        actual: String(probe.card.url),
      });
    },
  },
  {
    ...rule,
    id: 'card-0.1.skills',
    requirements: ['0.1/skill'],
    section: 'AgentSkill',
    versions: ['0.1'],
    sentence: 'Each skill has an id, a name, a description, and the modes that it takes and gives.',
    remedy: 'Add inputModes and outputModes to each skill.',
    async run(probe) {
      for (const skill of skills(probe)) {
        for (const field of ['id', 'name', 'description'])
          probe.expect(typeof skill[field] === 'string' && skill[field] !== '', `A skill has no ${field}`, {
            actual: JSON.stringify(skill).slice(0, 160),
          });
        for (const field of ['inputModes', 'outputModes'])
          probe.expect((asList(skill[field]) ?? []).length > 0, `Skill ${String(skill.id)} has no ${field}`, {
            actual: JSON.stringify(skill[field]),
          });
      }
    },
  },
  {
    ...rule,
    id: 'card-0.1.authentication',
    requirements: ['0.1/authentication'],
    section: 'AgentAuthentication',
    versions: ['0.1'],
    sentence:
      'A card that asks for OAuth 2 says where tokens are; one that asks for an API key says in which header.',
    remedy: 'Add credentials.oauth2.tokenUrl or credentials.apiKey.headerName.',
    async run(probe) {
      const authentication = isJsonObject(probe.card.authentication) ? probe.card.authentication : {};
      const schemes = (asList(authentication.schemes) ?? []).map((each) => String(each).toLowerCase());
      const { credentials } = authentication;
      const all = isJsonObject(credentials)
        ? credentials
        : (parseJsonOrUndefined(typeof credentials === 'string' ? credentials : '') ?? {});
      const part = (name: string): JsonObject =>
        isJsonObject(all) && isJsonObject(all[name]) ? all[name] : {};
      if (!schemes.includes('oauth2') && !schemes.includes('apikey'))
        throw new NotApplicableError('The card asks for neither OAuth 2 nor an API key.');
      if (schemes.includes('oauth2'))
        probe.expect(typeof part('oauth2').tokenUrl === 'string', 'credentials.oauth2 has no tokenUrl');
      if (schemes.includes('apikey'))
        probe.expect(typeof part('apiKey').headerName === 'string', 'credentials.apiKey has no headerName');
    },
  },
  {
    ...rule,
    id: 'card.flags',
    requirements: ['0.1/capabilities', '0.3/capabilities'],
    section: 'AgentCapabilities',
    versions: ['0.1', '0.3'],
    sentence: 'Capabilities are true or false.',
    remedy: 'Send true or false, and no texts.',
    async run(probe) {
      for (const name of ['streaming', 'pushNotifications', 'stateTransitionHistory']) {
        const value = probe.capabilities[name];
        probe.expect(
          value === undefined || value === null || typeof value === 'boolean',
          `${name} is ${JSON.stringify(value)}`,
        );
      }
    },
  },
  {
    ...rule,
    id: 'card-before.public',
    requirements: ['0.1/public-card'],
    section: '5.3',
    versions: ['0.1', '0.3'],
    sentence: 'The card can be read without credentials.',
    remedy: 'Leave the well-known path open; keep what is private for the extended card.',
    async run(probe) {
      const exchange = await probe.context.http.send({ method: 'GET', url: probe.context.cardUrl });
      probe.exchanges.push(exchange);
      probe.expect(exchange.status === 200, 'The card is not public', {
        expected: '200',
        actual: String(exchange.status),
      });
    },
  },
  {
    ...rule,
    id: 'card-0.3.fields',
    requirements: ['0.3/card'],
    section: '5.5',
    versions: ['0.3'],
    sentence:
      'A card has everything that it must have: name, description, url, version, protocolVersion, capabilities, modes and skills.',
    remedy: 'Add what is missing.',
    async run(probe) {
      for (const field of ['name', 'description', 'url', 'version'])
        probe.expect(
          typeof probe.card[field] === 'string' && probe.card[field] !== '',
          `The card has no ${field}`,
          { actual: JSON.stringify(probe.card[field]) },
        );
      probe.expect(isJsonObject(probe.card.capabilities), 'The card has no capabilities');
      for (const field of ['defaultInputModes', 'defaultOutputModes', 'skills'])
        probe.expect(Array.isArray(probe.card[field]), `${field} is no list`, {
          actual: JSON.stringify(probe.card[field]),
        });
    },
  },
  {
    ...rule,
    id: 'card-0.3.version',
    requirements: ['0.3/protocol-version'],
    section: '5.5',
    level: 'SHOULD',
    versions: ['0.3'],
    sentence: 'A card says which version of the protocol it is of.',
    remedy: 'Add protocolVersion: "0.3.0".',
    async run(probe) {
      const { protocolVersion } = probe.card;
      probe.expect(
        typeof protocolVersion === 'string' && /^\d+\.\d+(\.\d+)?$/.test(protocolVersion),
        'protocolVersion is missing or no version',
        { actual: JSON.stringify(protocolVersion) },
      );
    },
  },
  {
    ...rule,
    id: 'card-0.3.skills',
    requirements: ['0.3/skill'],
    section: '5.5.4',
    versions: ['0.3'],
    sentence: 'Each skill has an id, a name, a description and tags.',
    remedy: 'Add what is missing.',
    async run(probe) {
      for (const skill of skills(probe)) {
        for (const field of ['id', 'name', 'description'])
          probe.expect(typeof skill[field] === 'string' && skill[field] !== '', `A skill has no ${field}`, {
            actual: JSON.stringify(skill).slice(0, 160),
          });
        probe.expect(Array.isArray(skill.tags), `Skill ${String(skill.id)} has no tags`);
      }
    },
  },
  {
    ...rule,
    id: 'card-0.3.transports',
    requirements: ['0.3/transports'],
    section: '5.6',
    versions: ['0.3'],
    sentence: 'Every interface that a card names answers in its transport.',
    remedy: 'List only what is served, and let preferredTransport be the transport of url.',
    async run(probe) {
      for (const driver of [probe.driver, ...probe.context.siblings])
        await probe.withDriver(driver).expectError('get', { id: crypto.randomUUID() }, 'TaskNotFound');
    },
  },
  {
    id: 'stream.first-status',
    requirements: ['0.1/first-event'],
    section: 'Streaming',
    level: 'MUST',
    category: 'streaming',
    versions: ['0.1'],
    preconditions: ['streaming'],
    sentence:
      'A stream begins with the status submitted or working, and ends with a final one that ends the task or asks.',
    remedy: 'Send a status before artifacts, and final: true with the last.',
    async run(probe) {
      const { events } = await probe.expectStream('stream', {
        message: probe.context.prompts.promptFor('completed'),
      });
      const [first] = events;
      const last = events.at(-1);
      probe.expect(
        first?.kind === 'status' && ['submitted', 'working'].includes(first.state),
        'The first event is no such status',
        { actual: JSON.stringify(first?.raw).slice(0, 160) },
      );
      probe.expect(
        last?.kind === 'status' &&
          last.final === true &&
          (terminalStates.has(last.state) || interruptedStates.has(last.state)),
        'The last event is not final',
        { actual: JSON.stringify(last?.raw).slice(0, 160) },
      );
    },
  },
  {
    id: 'history.transitions',
    requirements: ['0.1/history'],
    section: 'stateTransitionHistory',
    level: 'MUST',
    category: 'lifecycle',
    versions: ['0.1', '0.3'],
    sentence: 'An agent that promises its history gives it.',
    remedy: 'Keep what happened, or do not declare stateTransitionHistory.',
    async run(probe) {
      if (probe.capabilities.stateTransitionHistory !== true)
        throw new NotApplicableError('The card does not promise stateTransitionHistory.');
      const task = await probe.completeTask();
      const { history } = await probe.getTask(task.id, 100);
      probe.expect((history ?? []).length >= 2, 'The history has fewer than two entries', {
        actual: String(history?.length ?? 0),
      });
    },
  },
  {
    id: 'send.same-id',
    requirements: ['0.1/task-id'],
    section: 'tasks/send',
    level: 'MUST',
    category: 'lifecycle',
    versions: ['0.1'],
    sentence: 'A task has the id that its caller gave it.',
    remedy: 'Use the id of the request.',
    async run(probe) {
      const taskId = crypto.randomUUID();
      const result = await probe.expectResult('send', {
        message: { ...probe.context.prompts.promptFor('completed'), taskId },
      });
      const task = probe.driver.decodeTask(result);
      probe.expect(task?.id === taskId, 'The task has another id', {
        expected: taskId,
        actual: task?.id ?? 'none',
      });
      probe.expect(
        // Not every agent can do something with what it is told here: it may ask, or say that it cannot.
        ['submitted', 'working', 'completed', 'input-required', 'failed'].includes(task?.state ?? ''),
        'The task began in another state',
        { actual: task?.state ?? '' },
      );
    },
  },
  {
    id: 'send.goes-on',
    requirements: ['0.1/follow-up'],
    section: 'tasks/send',
    level: 'MUST',
    category: 'lifecycle',
    versions: ['0.1'],
    sentence: 'A task that waits for input goes on with the next message under its id.',
    remedy: 'Take the next message of the task.',
    async run(probe) {
      const task = await probe.sendPrompt('input-required');
      const message = { text: 'the first one', taskId: task.id, contextId: task.contextId ?? '' };
      const answered = probe.driver.decodeTask(await probe.expectResult('send', { message }));
      probe.expect(answered?.id === task.id, 'The answer is another task', {
        expected: task.id,
        actual: answered?.id ?? 'none',
      });
      probe.expect(
        ['working', 'completed', 'submitted'].includes(answered?.state ?? ''),
        'The task did not go on',
        { actual: answered?.state ?? '' },
      );
    },
  },
  {
    id: 'stream.subscribe-path',
    requirements: ['0.1/subscribe-path'],
    section: 'tasks/sendSubscribe',
    level: 'SHOULD',
    category: 'streaming',
    versions: ['0.1'],
    preconditions: ['streaming'],
    sentence: 'Streams are also opened at /subscribe below the url.',
    remedy: 'Take tasks/sendSubscribe at /subscribe as well, where the first clients look for it.',
    async run(probe) {
      const said = probe.driver.encode('stream', { message: probe.context.prompts.promptFor('completed') });
      if (!said) throw new InconclusiveError('Streams have no name.');
      const exchange = await probe.sendRaw({
        ...said,
        url: `${probe.driver.url.replace(/\/+$/, '')}/subscribe`,
      });
      const type = exchange.headers['content-type'] ?? '';
      probe.expect(type.startsWith('text/event-stream'), '/subscribe gives no stream', {
        expected: 'text/event-stream',
        actual: `${exchange.status} ${type}`,
      });
    },
  },
  {
    id: 'auth.required',
    requirements: ['0.1/authentication-enforced', '0.3/authentication-enforced'],
    section: '4',
    level: 'MUST',
    category: 'error-handling',
    versions: ['0.1', '0.3'],
    preconditions: ['credentials'],
    sentence: 'Whoever has no credentials is refused with 401.',
    remedy: 'Check credentials before you look at the request.',
    async run(probe) {
      const response = await probe.withCredentials({}).call('get', { id: 'x' });
      probe.expect(response.exchange.status === 401, 'A request without credentials was answered', {
        expected: '401',
        actual: String(response.exchange.status),
      });
    },
  },
]);
