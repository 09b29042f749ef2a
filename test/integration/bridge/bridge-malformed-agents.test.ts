/** Cards and agents that nobody would write on purpose, or somebody did. */
import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { assignToolNames } from '../../../src/bridge/mcp/server/tool-names.ts';
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

/** An agent that says back what it heard, as text and as data. */
function echo(skills: AgentSkill[]) {
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

async function over(skills: AgentSkill[]) {
  const agent = echo(skills);
  const made = await bridge({ agentName: 'remote', agent });
  closeAfterTest(() => made.close());
  closeAfterTest(() => agent.close());
  return made;
}

async function toolsOf(skills: AgentSkill[]) {
  const made = await over(skills);
  const running = await serveMcp(made, { http: true });
  closeAfterTest(() => running.close());
  const [kind] = mcpClientKinds as [McpClientKind];
  const client = await kind.connect({ url: running.url ?? '' });
  closeAfterTest(() => client.close());
  return client;
}

describe('a card', () => {
  it('with 10,000 skills gives as many actions as are of use, and says so', async () => {
    const entries: LogEntry[] = [];
    const agent = echo(
      Array.from({ length: 10_000 }, (_, index) => skill(`s${index}`, `Says {prompt}, or {x${index}}`)),
    );
    const made = await bridge({ agentName: 'remote', agent, log: (entry) => entries.push(entry) });
    closeAfterTest(() => made.close());
    expect(made.actions()).toHaveLength(1_001);
    expect(entries).toMatchObject([{ level: 'warn', message: expect.stringContaining('10000') }]);
    expect(await made.invoke('remote/s999', { prompt: 'hi', x999: '!' })).toMatchObject({
      message: 'Says hi, or !',
    });
    expect(await made.invoke('remote/s1000', { prompt: 'hi' })).toMatchObject({ status: 'ERROR' });
    const running = await serveMcp(made, { http: true });
    closeAfterTest(() => running.close());
    const [kind] = mcpClientKinds as [McpClientKind];
    const client = await kind.connect({ url: running.url ?? '' });
    closeAfterTest(() => client.close());
    expect(await client.tools()).toHaveLength(1_001);
  });

  it('whose skills have the same name, once cleaned and cut, gives tools that are told apart', async () => {
    const long = 'x'.repeat(80);
    const ids = [`${long}1`, `${long}2`, 'a b', 'a_b', 'a/b', '天気', '天候', '🌦', '', ' '];
    const client = await toolsOf(ids.map((id) => skill(id)));
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

  it('keeps the names of its tools when skills come and go around them', () => {
    const names = ['remote/天気', 'remote/a b', 'remote/forecast'];
    const [alone, among] = [assignToolNames(names), assignToolNames(['remote/x', ...names, 'other/天気'])];
    expect(names.map((name) => among.get(name))).toEqual(names.map((name) => alone.get(name)));
  });

  it('with odd placeholders gives parameters that can be filled in', async () => {
    const made = await over([
      skill('twice', 'From {city} to {city}, by {way}'),
      skill('files', 'Reads {files} as {prompt}'),
      skill('proto', 'Takes {__proto__}, {constructor} and {toString}'),
      skill('braces', 'Keeps {}, {{x}} and { y }, \\{z} too'),
    ]);
    const properties = (name: string) =>
      Object.keys((made.actions().find((each) => each.name === name)?.parameters.properties ?? {}) as object);
    expect(properties('remote/twice')).toEqual(['city', 'way', 'files']);
    expect(properties('remote/files')).toEqual(['prompt', 'files']);
    expect(properties('remote/proto')).toEqual(['__proto__', 'constructor', 'toString', 'files']);
    const said = async (name: string, parameters: object) =>
      (await made.invoke(name, parameters as { [key: string]: unknown })).message;
    expect(await said('remote/twice', { city: 'Oslo', way: '$& {city}' })).toBe(
      'From Oslo to Oslo, by $& {city}',
    );
    const bytes = { bytes: 'eA==', name: 'x.txt' };
    expect(await said('remote/files', { prompt: 'text', files: [bytes] })).toBe('Reads x.txt as text');
    expect(await said('remote/files', { prompt: 'text' })).toBe('Reads {files} as text');
    const odd = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
    expect(await said('remote/proto', odd)).toBe('Takes a, b and c');
    expect(await made.invoke('remote/proto', {})).toMatchObject({ message: '__proto__ is required' });
    expect(await made.invoke('remote/proto', odd)).toMatchObject({ data: {} });
    expect(Object.prototype).not.toHaveProperty('a');
    expect(await said('remote/braces', { x: '1', z: '2' })).toBe('Keeps {}, {1} and { y }, \\2 too');
  });

  it('may change while a call runs, which goes on', async () => {
    const go = createDeferred();
    const begun = createDeferred();
    let skills = [skill('old')];
    const agent = defineAgent({
      name: 'Changing',
      description: 'Learns',
      skills,
      async *process() {
        yield { state: 'working', message: 'begun' };
        await go.promise;
        yield 'done';
      },
    });
    const card = agent.card.bind(agent);
    Object.assign(agent, { card: async (): Promise<AgentCard> => ({ ...(await card()), skills }) });
    const made = await bridge({ agentName: 'remote', agent, cardInterval: 1 });
    closeAfterTest(() => made.close());
    closeAfterTest(() => agent.close());
    const response = made.invoke('remote/old', { prompt: 'x' }, { onProgress: begun.resolve });
    await begun.promise;
    const changed = new Promise<void>((resolve) => made.onChange(resolve));
    skills = [skill('new')];
    await changed;
    expect(made.actions().map(({ name }) => name)).toEqual(['remote/new', 'provide_required_input']);
    go.resolve();
    expect(await response).toMatchObject({ status: 'COMPLETED', message: 'done' });
    expect(await made.invoke('remote/old', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'There is no action remote/old',
    });
  });

  it('with words that are markup or paths is served over HTTP as it is', async () => {
    const made = await over([skill('../../etc', '<script>'), skill('a?b#c%2F', 'x'), skill('x:invoke', 'y')]);
    const server = await serveActions(made);
    closeAfterTest(() => server.stop(0));
    for (const id of ['../../etc', 'a?b#c%2F', 'x:invoke']) {
      const answer = await fetch(`${server.url}/actions/remote/${encodeURIComponent(id)}:invoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ parameters: { prompt: id } }),
      });
      expect(await answer.json()).toMatchObject({ success: true, message: id });
    }
  });
});

describe('an agent', () => {
  it('that asks for ever is asked for ever, by whoever wants to, with one follow-up at a time', async () => {
    const agent = defineAgent({
      name: 'Curious',
      description: 'Asks',
      async *process(context) {
        yield { state: 'working' };
        for (let round = 1; ; round++) await context.ask(`Question ${round}?`);
      },
    });
    closeAfterTest(() => agent.close());
    const made = await bridgeToServedAgent(agent);
    let answer = await made.invoke('remote/default', { prompt: 'x' });
    const ids = new Set<string>();
    for (let round = 1; round <= 20; round++) {
      expect(answer).toMatchObject({ status: 'INPUT_REQUIRED', message: `Question ${round}?` });
      ids.add(answer.followUpId ?? '');
      answer = await made.invoke('provide_required_input', {
        follow_up_id: answer.followUpId,
        user_response: 'why',
      });
    }
    expect(ids.size).toBe(20);
  });

  it('that asks for ever is not asked for ever by a form', async () => {
    const agent = defineAgent({
      name: 'Curious',
      description: 'Asks',
      async *process(context) {
        yield { state: 'working' };
        for (let round = 1; ; round++) await context.ask(`Question ${round}?`);
      },
    });
    const made = await bridge({ agentName: 'remote', agent });
    const running = await serveMcp(made, { http: true, maxQuestions: 3 });
    closeAfterTest(() => agent.close());
    closeAfterTest(() => made.close());
    closeAfterTest(() => running.close());
    for (const kind of mcpClientKinds) {
      let asked = 0;
      const elicit = () => ({ action: 'accept', content: { answer: `${++asked}` } });
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
      expect(asked).toBe(3);
    }
  });

  it('that sends things in no order is understood as far as it goes', async () => {
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
    const made = await bridgeToUrl(raw.url);
    const { status: word, message, taskId } = await made.invoke('remote/s', { prompt: 'x' });
    expect([word, message, taskId]).toEqual(['COMPLETED', 'done', innerTask]);
  });
});
