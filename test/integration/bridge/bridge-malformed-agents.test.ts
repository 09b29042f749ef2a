/** Unusual and malicious cards and agents. */
import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { assignToolNames } from '../../../src/bridge/tools/tool-names.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { serveActions } from '../../../src/bridge/http/serve-actions.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import type { AgentCard, AgentSkill } from '../../../src/protocol/card.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { type McpClientKind, mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { innerTask, startRawAgent, rawStatusUpdate, rawTask } from '../../support/mesh/raw-agent.ts';

const skill = (id: string, description = 'Does it', more: Partial<AgentSkill> = {}): AgentSkill => ({
  id,
  name: id,
  description,
  tags: [],
  ...more,
});

/** An agent that echoes the parts of the message. */
function echoAgent(skills: AgentSkill[]) {
  return defineAgent({
    name: 'Echo',
    description: 'Says it back',
    skills,
    defaultInputModes: ['text/plain', 'application/json'],
    async *process({ message }) {
      yield { artifact: { artifactId: 'a', parts: message.parts } };
    },
  });
}

async function bridgeWithSkills(skills: AgentSkill[]) {
  const agent = echoAgent(skills);
  const actions = await bridge({ agentName: 'remote', agent });
  closeAfterTest(() => actions.close());
  closeAfterTest(() => agent.close());
  return actions;
}

async function connectMcpClient(skills: AgentSkill[]) {
  const actions = await bridgeWithSkills(skills);
  const running = await serveMcp(actions, { http: true });
  closeAfterTest(() => running.close());
  const [kind] = mcpClientKinds as [McpClientKind];
  const client = await kind.connect({ url: running.url ?? '' });
  closeAfterTest(() => client.close());
  return client;
}

describe('bridge with an unusual card', () => {
  it('limits 10,000 skills to 1,000 actions and logs a warning', async () => {
    const entries: LogEntry[] = [];
    const agent = echoAgent(
      Array.from({ length: 10_000 }, (_, index) => skill(`s${index}`, `Says {prompt}, or {x${index}}`)),
    );
    const actions = await bridge({ agentName: 'remote', agent, log: (entry) => entries.push(entry) });
    closeAfterTest(() => actions.close());
    expect(actions.actions()).toHaveLength(1_001);
    expect(entries).toMatchObject([{ level: 'warn', message: expect.stringContaining('10000') }]);
    expect(await actions.invoke('remote/s999', { prompt: 'hi', x999: '!' })).toMatchObject({
      message: 'Says hi, or !',
    });
    expect(await actions.invoke('remote/s1000', { prompt: 'hi' })).toMatchObject({ status: 'ERROR' });
    const running = await serveMcp(actions, { http: true });
    closeAfterTest(() => running.close());
    const [kind] = mcpClientKinds as [McpClientKind];
    const client = await kind.connect({ url: running.url ?? '' });
    closeAfterTest(() => client.close());
    expect(await client.tools()).toHaveLength(1_001);
  });

  it('creates unique tools for skills whose sanitized names collide', async () => {
    const long = 'x'.repeat(80);
    const ids = [`${long}1`, `${long}2`, 'a b', 'a_b', 'a/b', '天気', '天候', '🌦', '', ' '];
    const client = await connectMcpClient(ids.map((id) => skill(id)));
    const tools = await client.tools();
    const names = tools.map(({ name }) => name);
    // A skill without an id cannot be called.
    expect(names).toHaveLength(ids.length);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const { name, _meta } of tools.slice(0, -1)) {
      const result = await client.call(name, { prompt: String(_meta?.['dragoman/action']) });
      expect(result.content[0].text).toBe(_meta?.['dragoman/action']);
    }
  });

  it('keeps tool names stable when other skills change', () => {
    const names = ['remote/天気', 'remote/a b', 'remote/forecast'];
    const [alone, among] = [assignToolNames(names), assignToolNames(['remote/x', ...names, 'other/天気'])];
    expect(names.map((name) => among.get(name))).toEqual(names.map((name) => alone.get(name)));
  });

  it('creates usable parameters from unusual placeholders', async () => {
    const actions = await bridgeWithSkills([
      skill('twice', 'From {city} to {city}, by {way}'),
      skill('files', 'Reads {files} as {prompt}'),
      skill('proto', 'Takes {__proto__}, {constructor} and {toString}'),
      skill('braces', 'Keeps {}, {{x}} and { y }, \\{z} too'),
    ]);
    const properties = (name: string) =>
      Object.keys(
        (actions.actions().find((each) => each.name === name)?.parameters.properties ?? {}) as object,
      );
    expect(properties('remote/twice')).toEqual(['city', 'way', 'files']);
    expect(properties('remote/files')).toEqual(['prompt', 'files']);
    expect(properties('remote/proto')).toEqual(['__proto__', 'constructor', 'toString', 'files']);
    const invokeText = async (name: string, parameters: object) =>
      (await actions.invoke(name, parameters as { [key: string]: unknown })).message;
    expect(await invokeText('remote/twice', { city: 'Oslo', way: '$& {city}' })).toBe(
      'From Oslo to Oslo, by $& {city}',
    );
    const bytes = { bytes: 'eA==', name: 'x.txt' };
    expect(await invokeText('remote/files', { prompt: 'text', files: [bytes] })).toBe('Reads x.txt as text');
    expect(await invokeText('remote/files', { prompt: 'text' })).toBe('Reads {files} as text');
    const odd = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
    expect(await invokeText('remote/proto', odd)).toBe('Takes a, b and c');
    expect(await actions.invoke('remote/proto', {})).toMatchObject({ message: '__proto__ is required' });
    expect(await actions.invoke('remote/proto', odd)).toMatchObject({ data: {} });
    expect(Object.prototype).not.toHaveProperty('a');
    expect(await invokeText('remote/braces', { x: '1', z: '2' })).toBe('Keeps {}, {1} and { y }, \\2 too');
  });

  it('completes a running call when the card changes', async () => {
    const proceed = createDeferred();
    const started = createDeferred();
    let skills = [skill('old')];
    const agent = defineAgent({
      name: 'Changing',
      description: 'Learns',
      skills,
      async *process() {
        yield { state: 'working', message: 'begun' };
        await proceed.promise;
        yield 'done';
      },
    });
    const card = agent.card.bind(agent);
    Object.assign(agent, { card: async (): Promise<AgentCard> => ({ ...(await card()), skills }) });
    const actions = await bridge({ agentName: 'remote', agent, cardInterval: 1 });
    closeAfterTest(() => actions.close());
    closeAfterTest(() => agent.close());
    const response = actions.invoke('remote/old', { prompt: 'x' }, { onProgress: started.resolve });
    await started.promise;
    const changed = new Promise<void>((resolve) => actions.onChange(resolve));
    skills = [skill('new')];
    await changed;
    expect(actions.actions().map(({ name }) => name)).toEqual(['remote/new', 'provide_required_input']);
    proceed.resolve();
    expect(await response).toMatchObject({ status: 'COMPLETED', message: 'done' });
    expect(await actions.invoke('remote/old', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'Action not found: remote/old',
    });
  });

  it('serves skill ids with markup and path characters over HTTP', async () => {
    const actions = await bridgeWithSkills([
      skill('../../etc', '<script>'),
      skill('a?b#c%2F', 'x'),
      skill('x:invoke', 'y'),
    ]);
    const server = await serveActions(actions);
    closeAfterTest(() => server.stop(0));
    for (const id of ['../../etc', 'a?b#c%2F', 'x:invoke']) {
      const response = await fetch(`${server.url}/actions/remote/${encodeURIComponent(id)}:invoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ parameters: { prompt: id } }),
      });
      expect(await response.json()).toMatchObject({ success: true, message: id });
    }
  });
});

describe('bridge with an unusual agent', () => {
  it('returns a new follow-up ID for each of 20 questions', async () => {
    const agent = defineAgent({
      name: 'Curious',
      description: 'Asks',
      async *process(context) {
        yield { state: 'working' };
        for (let round = 1; ; round++) await context.ask(`Question ${round}?`);
      },
    });
    closeAfterTest(() => agent.close());
    const actions = await bridgeToServedAgent(agent);
    let response = await actions.invoke('remote/default', { prompt: 'x' });
    const ids = new Set<string>();
    for (let round = 1; round <= 20; round++) {
      expect(response).toMatchObject({ status: 'INPUT_REQUIRED', message: `Question ${round}?` });
      ids.add(response.followUpId ?? '');
      response = await actions.invoke('provide_required_input', {
        follow_up_id: response.followUpId,
        user_response: 'why',
      });
    }
    expect(ids.size).toBe(20);
  });

  it('stops elicitation after maxQuestions and returns a follow-up ID', async () => {
    const agent = defineAgent({
      name: 'Curious',
      description: 'Asks',
      async *process(context) {
        yield { state: 'working' };
        for (let round = 1; ; round++) await context.ask(`Question ${round}?`);
      },
    });
    const actions = await bridge({ agentName: 'remote', agent });
    const running = await serveMcp(actions, { http: true, maxQuestions: 3 });
    closeAfterTest(() => agent.close());
    closeAfterTest(() => actions.close());
    closeAfterTest(() => running.close());
    for (const kind of mcpClientKinds) {
      let elicitations = 0;
      const elicit = () => ({ action: 'accept', content: { answer: `${++elicitations}` } });
      const client = await kind.connect({ url: running.url ?? '' }, { elicit });
      closeAfterTest(() => client.close());
      const result = await client.call('remote_default', { prompt: 'x' });
      expect(result).toMatchObject({
        structuredContent: {
          status: 'INPUT_REQUIRED',
          message: 'Question 4?',
          follow_up_id: expect.any(String),
        },
      });
      expect(elicitations).toBe(3);
    }
  });

  it('completes a task with out-of-order and unknown events', async () => {
    const raw = await startRawAgent({
      stream: () => [
        rawStatusUpdate('working', 'first'),
        { kind: 'nonsense' },
        rawTask('working'),
        rawStatusUpdate('completed', 'done', true),
        rawStatusUpdate('working', 'too late'),
      ],
    });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url);
    const { status, message, taskId } = await actions.invoke('remote/s', { prompt: 'x' });
    expect([status, message, taskId]).toEqual(['COMPLETED', 'done', innerTask]);
  });
});
