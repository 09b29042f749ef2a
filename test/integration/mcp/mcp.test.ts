/** Real clients of MCP, over stdio (the built command) and HTTP, before an agent of this toolkit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../src/artifacts/index.ts';
import { bridgeAgents } from '../../../src/bridge/index.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/index.ts';
import { serve } from '../../../src/server/index.ts';
import { cliEntry } from '../../support/cli/run-command.ts';
import {
  type McpClientHandlers,
  type McpClientKind,
  mcpClientKinds,
  type TestMcpClient,
} from '../../support/bridge/mcp-clients.ts';
import {
  type McpDemoAgent,
  createMcpDemoAgent,
  largeFile,
  smallImage,
} from '../../support/bridge/mcp-demo-agent.ts';

type Way = 'stdio' | 'http';

/** An agent, and how clients reach it through a bridge. */
interface Scene extends McpDemoAgent {
  /** Connects a client; calls wait as long as that. */
  connected(behaviour?: McpClientHandlers, waitBudget?: number): Promise<TestMcpClient>;
  close(): Promise<void>;
}

async function scene(kind: McpClientKind, way: Way): Promise<Scene> {
  const demo = createMcpDemoAgent();
  const server = await serve(demo.agent);
  const closers: (() => Promise<unknown>)[] = [() => demo.agent.close(), () => server.stop(0)];

  async function overHttp(waitBudget: number): Promise<string> {
    const remote = connect(server.url);
    const artifacts = memoryArtifactStore();
    const bridge = await bridgeAgents([{ agentName: 'demo', agent: remote }], {
      artifacts,
      cardInterval: 50,
    });
    const running = await serveMcp(bridge, { http: true, artifacts, waitBudget });
    closers.push(
      () => remote.close(),
      () => bridge.close(),
      () => running.close(),
    );
    return running.url ?? '';
  }

  return {
    ...demo,
    async connected(behaviour = {}, waitBudget = 50_000) {
      const flags = ['--mcp', 'stdio', '--card-interval', '0.05', '--max-wait', String(waitBudget / 1_000)];
      const client = await kind.connect(
        way === 'http'
          ? { url: await overHttp(waitBudget) }
          : { args: [cliEntry, 'bridge', '--agent', `demo=${server.url}`, ...flags] },
        behaviour,
      );
      closers.push(() => client.close());
      return client;
    },
    async close() {
      for (const close of closers.toReversed()) await close();
    },
  };
}

/** Something that is told once, however often. */
function bell(): { rung: Promise<void>; ring: () => void } {
  let ring = (): void => {};
  const rung = new Promise<void>((resolve) => {
    ring = resolve;
  });
  return { rung, ring };
}

const ways: readonly Way[] = ['stdio', 'http'];

describe.each(mcpClientKinds.flatMap((kind) => ways.map((way) => ({ kind, way, name: kind.name }))))(
  'the $name over $way',
  ({ kind, way }) => {
    let stage: Scene;
    /** A client that cannot be asked, and one that can. */
    let client: TestMcpClient;
    let askable: TestMcpClient;
    let elicit: (params: any) => unknown = () => ({ action: 'cancel' });
    const tools = bell();
    const resources = bell();

    beforeAll(async () => {
      stage = await scene(kind, way);
      client = await stage.connected({ onTools: tools.ring, onResources: resources.ring });
      askable = await stage.connected({ elicit: (params) => elicit(params) });
    });
    afterAll(() => stage.close());

    it('lists a tool for each skill, calls one, and hears which argument is wrong', async () => {
      // The older client does not tell which version it speaks over stdio.
      const version = kind.name.includes('2026') ? '2026-07-28' : '2025-11-25';
      expect(client.version ?? version).toBe(version);
      const listed = await client.tools();
      expect(listed.map(({ name }) => name)).toEqual([
        'demo_do',
        'demo_weigh',
        'demo_odd_name_',
        'provide_required_input',
      ]);
      expect(listed[0]).toMatchObject({
        title: 'Do',
        description: 'Does what the text says\n\nExamples:\n- wait',
        inputSchema: { type: 'object', required: ['prompt'] },
        _meta: { 'dragoman/action': 'demo/do' },
      });
      expect(await client.call('demo_do', { prompt: 'hello' })).toMatchObject({
        content: [{ type: 'text', text: 'You said: hello' }],
        structuredContent: { status: 'COMPLETED', message: 'You said: hello' },
      });
      const wrong = await client.call('demo_weigh', { thing: 'stone', times: 'many' });
      expect(wrong).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('times must be integer') }],
      });
      const missing = await client.call('demo_weigh', {});
      expect(missing).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('thing') }] });
      await expect(client.call('demo_nothing', {})).rejects.toThrow('There is no tool demo_nothing');
    });

    it('gets data as structured content, and data that break their promise as text', async () => {
      await client.tools();
      expect(await client.call('demo_weigh', { thing: 'stone' })).toMatchObject({
        structuredContent: { status: 'COMPLETED', data: { grams: 12 } },
        content: expect.arrayContaining([{ type: 'text', text: '{"grams":12}' }]),
      });
      const lie = await client.call('demo_weigh', { thing: 'lie' });
      expect(lie.structuredContent).not.toHaveProperty('data');
      expect(JSON.stringify(lie.content)).toContain('grams must be number');
      expect(JSON.stringify(lie.content)).toContain('heavy');
    });

    it('hears what the agent says meanwhile', async () => {
      const heard: any[] = [];
      const onprogress = (note: any) => {
        heard.push(note);
        if (note.message === 'waiting') stage.releaseWait();
      };
      const result = await client.call('demo_do', { prompt: 'wait' }, { onprogress });
      expect(result.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'waited' });
      expect(heard.map(({ message }) => message)).toContain('waiting');
      const numbers = heard.map(({ progress }) => progress);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    });

    it('cancels, and the task is canceled', async () => {
      const leaving = new AbortController();
      const calling = client.call(
        'demo_do',
        { prompt: 'slow' },
        {
          signal: leaving.signal,
          onprogress: ({ message }) => message === 'begun' && leaving.abort('enough'),
        },
      );
      await expect(calling).rejects.toThrow();
      const id = await stage.nextCanceledTask();
      expect((await stage.agent.getTask({ id })).status.state).toBe('canceled');
    });

    it('is asked, and its answers go on with the task', async () => {
      const questions: any[] = [];
      const answers = ['red', 'no, blue'];
      elicit = (params) => {
        questions.push(params);
        return { action: 'accept', content: { answer: answers.shift() } };
      };
      const result = await askable.call('demo_do', { prompt: 'ask twice' });
      expect(result.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'red and no, blue' });
      expect(questions).toMatchObject([
        { message: 'demo asks: First?', requestedSchema: { properties: { answer: { type: 'string' } } } },
        { message: 'demo asks: Second?' },
      ]);
    });

    it('may decline, and answer later with the tool for that', async () => {
      elicit = () => ({ action: 'decline' });
      const declined = await askable.call('demo_do', { prompt: 'ask' });
      expect(declined.isError).toBe(true);
      const [, id] = /follow_up_id "([^"]+)"/.exec(declined.content[0].text) ?? [];
      const answered = await askable.call('provide_required_input', {
        follow_up_id: id,
        user_response: 'green',
      });
      expect(answered.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'It is green.' });
    });

    it('answers with the tool for that when it cannot be asked', async () => {
      const asked = await client.call('demo_do', { prompt: 'ask' });
      expect(asked).toMatchObject({
        content: [
          { text: expect.stringMatching(/^Which color\?\n\nCall the tool provide_required_input with/) },
        ],
        structuredContent: { status: 'INPUT_REQUIRED', message: 'Which color?' },
      });
      expect(asked.isError).toBeFalsy();
      const { follow_up_id } = asked.structuredContent;
      const answered = await client.call('provide_required_input', { follow_up_id, user_response: 'red' });
      expect(answered.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'It is red.' });
      const again = await client.call('provide_required_input', { follow_up_id, user_response: 'red' });
      expect(again).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Invalid or expired follow-up ID.') }],
      });
    });

    it('reads files as resources, and is told of new ones', async () => {
      const result = await client.call('demo_do', { prompt: 'files' });
      const links = result.content.filter(({ type }: any) => type === 'resource_link');
      expect(links.map(({ name, mimeType }: any) => [name, mimeType])).toEqual([
        ['dot.png', 'image/png'],
        ['large.bin', 'application/octet-stream'],
        ['a.txt', 'text/plain'],
      ]);
      await resources.rung;
      const listed = await client.resources();
      expect(listed.map(({ uri }) => uri)).toEqual(links.slice(0, 2).map(({ uri }: any) => uri));
      for (const [index, part] of [smallImage, largeFile].entries()) {
        const { contents } = await client.read(links[index].uri);
        expect(contents).toMatchObject([{ uri: links[index].uri, blob: part.raw }]);
      }
      await expect(client.read('artifact://demo/default_user/other/secret.txt')).rejects.toThrow(
        /not found/i,
      );
    });

    it('is told when skills change', async () => {
      await client.tools();
      stage.addSkill({ id: 'sing', name: 'Sing', description: 'Sings', tags: [] });
      await tools.rung;
      expect((await client.tools()).map(({ name }) => name)).toContain('demo_sing');
    });

    it('hears what to do when the agent fails, refuses or wants credentials', async () => {
      for (const [prompt, status, said, advice] of [
        ['fail', 'FAILED', 'The oven is cold.', 'try again later'],
        ['reject', 'REJECTED', 'Not on Sundays.', 'Ask for something'],
        ['auth', 'AUTH_REQUIRED', 'Sign in first.', 'never given as arguments'],
      ]) {
        const result = await client.call('demo_do', { prompt });
        expect(result).toMatchObject({ isError: true, structuredContent: { status } });
        expect(result.content[0].text).toContain(said);
        expect(result.content[0].text).toContain(advice);
      }
    });

    it('gets a handle when the agent takes long, and goes on waiting with it', async () => {
      const hasty = await stage.connected({}, 1_000);
      const first = await hasty.call('demo_do', { prompt: 'wait' });
      expect(first.structuredContent).toMatchObject({ status: 'RUNNING' });
      expect(first.isError).toBeFalsy();
      stage.releaseWait();
      const { follow_up_id } = first.structuredContent;
      const second = await hasty.call('provide_required_input', { follow_up_id, user_response: '' });
      expect(second.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'waited' });
    });
  },
);
