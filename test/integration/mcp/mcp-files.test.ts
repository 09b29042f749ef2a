/** Files in MCP tool calls and resources. */
import { afterEach, describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../src/artifacts/index.ts';
import { bridge, type BridgeOptions } from '../../../src/bridge/index.ts';
import { serveMcp, type ServeMcpOptions } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { artifact, defineAgent } from '../../../src/engine/index.ts';
import { mcpClientKinds, type TestMcpClient } from '../../support/bridge/mcp-clients.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** An agent that returns the files it receives. */
function mirrorAgent() {
  return defineAgent({
    name: 'Mirror',
    description: 'Returns the files it receives',
    skills: [{ id: 'show', name: 'Show', description: 'Shows files', tags: [] }],
    defaultInputModes: ['*/*'],
    async *process({ message }) {
      for (const part of message.parts) if ('raw' in part) yield artifact([part], {});
      yield { state: 'completed', message: `${message.parts.length - 1} files` };
    },
  });
}

async function connectClient(
  kind: (typeof mcpClientKinds)[number],
  options: BridgeOptions = {},
  serveOptions: ServeMcpOptions = {},
): Promise<TestMcpClient> {
  const agent = mirrorAgent();
  const actions = await bridge({ agentName: 'mirror', agent, ...options });
  const { artifacts } = options;
  const running = await serveMcp(actions, { http: true, ...(artifacts && { artifacts }), ...serveOptions });
  const client = await kind.connect({ url: running.url ?? '' });
  closers.push(
    () => agent.close(),
    () => actions.close(),
    () => running.close(),
    () => client.close(),
  );
  return client;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const linksOf = ({ content }: any): any[] => content.filter(({ type }: any) => type === 'resource_link');

describe.each(mcpClientKinds.map((kind) => ({ kind, name: kind.name })))(
  'MCP files of the $name',
  ({ kind }) => {
    it.each([
      ['with a store', true],
      ['without a store', false],
    ])('are sent to the agent, returned as resources and sent again (%s)', async (_how, isStored) => {
      const client = await connectClient(kind, isStored ? { artifacts: memoryArtifactStore() } : {});
      const first = await client.call('mirror_show', {
        prompt: 'x',
        files: [
          { bytes: base64('one'), name: 'one.bin' },
          { type: 'image', data: base64('two'), mimeType: 'image/png', name: 'two.png' },
          {
            type: 'resource',
            resource: { uri: 'notes://n/three.md', text: '# three', mimeType: 'text/markdown' },
          },
          { type: 'resource', resource: { uri: 'notes://n/four.bin', blob: base64('four') } },
          'data:text/plain;charset=utf-8,five%20words',
          `data:application/json;base64,${base64('{}')}`,
        ],
      });
      expect(first).toMatchObject({ structuredContent: { status: 'COMPLETED', message: '6 files' } });
      const links = linksOf(first);
      expect(links.map(({ name, mimeType }) => [name, mimeType])).toEqual([
        ['one.bin', 'application/octet-stream'],
        ['two.png', 'image/png'],
        ['three.md', 'text/markdown'],
        ['four.bin', 'application/octet-stream'],
        ['file.txt', 'text/plain'],
        ['file.json', 'application/json'],
      ]);
      expect((await client.read(links[2].uri)).contents).toMatchObject([{ text: '# three' }]);
      const again = await client.call('mirror_show', {
        prompt: 'x',
        files: [links[0].uri, links[1], { uri: links[4].uri, name: 'other.txt' }],
      });
      const contents = [];
      for (const { uri } of linksOf(again)) contents.push(...(await client.read(uri)).contents);
      expect(contents.map(({ text, blob }: any) => text ?? Buffer.from(blob, 'base64').toString())).toEqual([
        'one',
        'two',
        'five words',
      ]);
    });

    it('are rejected if missing, too many, too large or malformed', async () => {
      const client = await connectClient(
        kind,
        { maxFiles: 2, maxFileBytes: 8 },
        { limits: { maxResourceBytes: 4 } },
      );
      const call = async (...files: unknown[]) => {
        const { isError = false, content } = await client.call('mirror_show', { prompt: 'x', files });
        return [isError, content.map(({ text }: any) => text).join(' ')];
      };
      const rejected = (text: string) => [true, expect.stringContaining(text)];
      expect(await call('dragoman://files/none/a.txt')).toEqual(rejected('dragoman://files/none/a.txt'));
      expect(await call('file:///etc/passwd')).toEqual(rejected('file:///etc/passwd'));
      expect(await call('https://example.com/a')).toEqual(
        rejected('fetching files from the web is disabled'),
      );
      expect(await call({ bytes: '???', name: 'a.txt' })).toEqual(rejected('not valid base64'));
      expect(await call('data:;base64,???')).toEqual(rejected('not valid base64'));
      expect(await call({ type: 'image' })).toEqual(rejected('files/0'));
      expect(await call(7)).toEqual(rejected('files/0'));
      const small = { bytes: base64('ab'), name: 'a.txt' };
      expect(await call(small, small, small)).toEqual(rejected('files must have at most 2 entries'));
      expect(await call({ bytes: base64('123456789'), name: 'a.txt' })).toEqual(rejected('a.txt'));
      expect(await call({ bytes: base64('12345678'), name: 'a.txt' })).toEqual([
        false,
        expect.stringContaining('is not available: it exceeds 4 bytes'),
      ]);
      expect(await client.resources()).toEqual([]);
    });
  },
);
