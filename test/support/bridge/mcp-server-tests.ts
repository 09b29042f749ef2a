import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../src/artifacts/index.ts';
import { bridgeAgents } from '../../../src/bridge/index.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/index.ts';
import { serve } from '../../../src/server/index.ts';
import { cliEntry } from '../cli/run-command.ts';
import { createDeferred } from '../engine/conversation.ts';
import { type McpClientHandlers, type McpClientKind, type TestMcpClient } from './mcp-clients.ts';
import { type McpDemoAgent, createMcpDemoAgent, largeFile, smallImage } from './mcp-demo-agent.ts';

export type McpTransport = 'stdio' | 'http';

/** An agent and a factory of clients that reach it through a bridge. */
interface Fixture extends McpDemoAgent {
  connect(handlers?: McpClientHandlers, waitBudget?: number): Promise<TestMcpClient>;
  close(): Promise<void>;
}

async function createFixture(kind: McpClientKind, transport: McpTransport): Promise<Fixture> {
  const demo = createMcpDemoAgent();
  const server = await serve(demo.agent);
  const closers: (() => Promise<unknown>)[] = [() => demo.agent.close(), () => server.stop(0)];

  async function startHttp(waitBudget: number): Promise<string> {
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
    async connect(handlers = {}, waitBudget = 50_000) {
      const flags = ['--mcp', 'stdio', '--card-interval', '0.05', '--max-wait', String(waitBudget / 1_000)];
      const client = await kind.connect(
        transport === 'http'
          ? { url: await startHttp(waitBudget) }
          : { args: [cliEntry, 'bridge', '--agent', `demo=${server.url}`, ...flags] },
        handlers,
      );
      closers.push(() => client.close());
      return client;
    },
    async close() {
      for (const close of closers.toReversed()) await close();
    },
  };
}

/** Tests the MCP server with a client over a transport, in front of a local agent. */
export function testMcpServer(kind: McpClientKind, transport: McpTransport): void {
  describe(`serveMcp with the ${kind.name} over ${transport}`, () => {
    let fixture: Fixture;
    /** A client without and one with elicitation. */
    let client: TestMcpClient;
    let elicitingClient: TestMcpClient;
    let elicit: (params: any) => unknown = () => ({ action: 'cancel' });
    const toolsChanged = createDeferred();
    const resourcesChanged = createDeferred();

    beforeAll(async () => {
      fixture = await createFixture(kind, transport);
      client = await fixture.connect({
        onTools: toolsChanged.resolve,
        onResources: resourcesChanged.resolve,
      });
      elicitingClient = await fixture.connect({ elicit: (params) => elicit(params) });
    });
    afterAll(() => fixture.close());

    it('lists one tool per skill, calls one and reports invalid arguments', async () => {
      // The older client does not expose the negotiated version over stdio.
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
      await expect(client.call('demo_nothing', {})).rejects.toThrow('Unknown tool demo_nothing');
    });

    it('returns data as structured content, and data that violates its schema as text', async () => {
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

    it('sends progress notifications with increasing numbers', async () => {
      const notifications: any[] = [];
      const onprogress = (notification: any) => {
        notifications.push(notification);
        if (notification.message === 'waiting') fixture.releaseWait();
      };
      const result = await client.call('demo_do', { prompt: 'wait' }, { onprogress });
      expect(result.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'waited' });
      expect(notifications.map(({ message }) => message)).toContain('waiting');
      const numbers = notifications.map(({ progress }) => progress);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    });

    it('cancels the task when the client cancels the call', async () => {
      const controller = new AbortController();
      const calling = client.call(
        'demo_do',
        { prompt: 'slow' },
        {
          signal: controller.signal,
          onprogress: ({ message }) => message === 'begun' && controller.abort('enough'),
        },
      );
      await expect(calling).rejects.toThrow();
      const id = await fixture.nextCanceledTask();
      expect((await fixture.agent.getTask({ id })).status.state).toBe('canceled');
    });

    it('elicits input and continues the task with it', async () => {
      const questions: any[] = [];
      const answers = ['red', 'no, blue'];
      elicit = (params) => {
        questions.push(params);
        return { action: 'accept', content: { answer: answers.shift() } };
      };
      const result = await elicitingClient.call('demo_do', { prompt: 'ask twice' });
      expect(result.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'red and no, blue' });
      expect(questions).toMatchObject([
        { message: 'demo asks: First?', requestedSchema: { properties: { answer: { type: 'string' } } } },
        { message: 'demo asks: Second?' },
      ]);
    });

    it('accepts input by follow-up ID after a declined elicitation', async () => {
      elicit = () => ({ action: 'decline' });
      const declined = await elicitingClient.call('demo_do', { prompt: 'ask' });
      expect(declined.isError).toBe(true);
      const [, id] = /follow_up_id "([^"]+)"/.exec(declined.content[0].text) ?? [];
      const completed = await elicitingClient.call('provide_required_input', {
        follow_up_id: id,
        user_response: 'green',
      });
      expect(completed.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'It is green.' });
    });

    it('returns a follow-up ID to clients without elicitation', async () => {
      const question = await client.call('demo_do', { prompt: 'ask' });
      expect(question).toMatchObject({
        content: [
          { text: expect.stringMatching(/^Which color\?\n\nCall the tool provide_required_input with/) },
        ],
        structuredContent: { status: 'INPUT_REQUIRED', message: 'Which color?' },
      });
      expect(question.isError).toBeFalsy();
      const { follow_up_id } = question.structuredContent;
      const completed = await client.call('provide_required_input', { follow_up_id, user_response: 'red' });
      expect(completed.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'It is red.' });
      const again = await client.call('provide_required_input', { follow_up_id, user_response: 'red' });
      expect(again).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Invalid or expired follow-up ID.') }],
      });
    });

    it('serves files as resources and notifies about new ones', async () => {
      const result = await client.call('demo_do', { prompt: 'files' });
      const links = result.content.filter(({ type }: any) => type === 'resource_link');
      expect(links.map(({ name, mimeType }: any) => [name, mimeType])).toEqual([
        ['dot.png', 'image/png'],
        ['large.bin', 'application/octet-stream'],
        ['a.txt', 'text/plain'],
      ]);
      await resourcesChanged.promise;
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

    it('notifies the client when skills change', async () => {
      await client.tools();
      fixture.addSkill({ id: 'sing', name: 'Sing', description: 'Sings', tags: [] });
      await toolsChanged.promise;
      expect((await client.tools()).map(({ name }) => name)).toContain('demo_sing');
    });

    it('adds advice to failed, rejected and auth-required results', async () => {
      for (const [prompt, status, message, advice] of [
        ['fail', 'FAILED', 'The oven is cold.', 'try again later'],
        ['reject', 'REJECTED', 'Not on Sundays.', 'Send a request that matches its description'],
        ['auth', 'AUTH_REQUIRED', 'Sign in first.', 'never pass them as arguments'],
      ]) {
        const result = await client.call('demo_do', { prompt });
        expect(result).toMatchObject({ isError: true, structuredContent: { status } });
        expect(result.content[0].text).toContain(message);
        expect(result.content[0].text).toContain(advice);
      }
    });

    it('returns a follow-up ID after the wait budget and continues waiting with it', async () => {
      const impatientClient = await fixture.connect({}, 1_000);
      const first = await impatientClient.call('demo_do', { prompt: 'wait' });
      expect(first.structuredContent).toMatchObject({ status: 'RUNNING' });
      expect(first.isError).toBeFalsy();
      fixture.releaseWait();
      const { follow_up_id } = first.structuredContent;
      const second = await impatientClient.call('provide_required_input', {
        follow_up_id,
        user_response: '',
      });
      expect(second.structuredContent).toMatchObject({ status: 'COMPLETED', message: 'waited' });
    });
  });
}
