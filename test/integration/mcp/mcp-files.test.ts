/** Files that clients of MCP send along, what the agent makes of them, and what can be read of that. */
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

/** An agent that gives back the files it was sent. */
function mirror() {
  return defineAgent({
    name: 'Mirror',
    description: 'Gives back what it gets',
    skills: [{ id: 'show', name: 'Show', description: 'Shows files', tags: [] }],
    defaultInputModes: ['*/*'],
    async *process({ message }) {
      for (const part of message.parts) if ('raw' in part) yield artifact([part], {});
      yield { state: 'completed', message: `${message.parts.length - 1} files` };
    },
  });
}

async function connected(
  kind: (typeof mcpClientKinds)[number],
  options: BridgeOptions = {},
  serving: ServeMcpOptions = {},
): Promise<TestMcpClient> {
  const agent = mirror();
  const actions = await bridge({ agentName: 'mirror', agent, ...options });
  const { artifacts } = options;
  const running = await serveMcp(actions, { http: true, ...(artifacts && { artifacts }), ...serving });
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

describe.each(mcpClientKinds.map((kind) => ({ kind, name: kind.name })))('files of the $name', ({ kind }) => {
  it.each([
    ['with a store', true],
    ['without a store', false],
  ])('go to the agent, come back as resources, and go again, %s', async (_how, isStored) => {
    const client = await connected(kind, isStored ? { artifacts: memoryArtifactStore() } : {});
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

  it('must be there, be few and small, and be what they say', async () => {
    const client = await connected(
      kind,
      { maxFiles: 2, maxFileBytes: 8 },
      { limits: { maxResourceBytes: 4 } },
    );
    const call = async (...files: unknown[]) => {
      const { isError = false, content } = await client.call('mirror_show', { prompt: 'x', files });
      return [isError, content.map(({ text }: any) => text).join(' ')];
    };
    const wrong = (words: string) => [true, expect.stringContaining(words)];
    expect(await call('dragoman://files/none/a.txt')).toEqual(wrong('dragoman://files/none/a.txt'));
    expect(await call('file:///etc/passwd')).toEqual(wrong('file:///etc/passwd'));
    expect(await call('https://example.com/a')).toEqual(wrong('not fetched from the web'));
    expect(await call({ bytes: '???', name: 'a.txt' })).toEqual(wrong('not base64'));
    expect(await call('data:;base64,???')).toEqual(wrong('not base64'));
    expect(await call({ type: 'image' })).toEqual(wrong('files/0'));
    expect(await call(7)).toEqual(wrong('files/0'));
    const small = { bytes: base64('ab'), name: 'a.txt' };
    expect(await call(small, small, small)).toEqual(wrong('files are 3'));
    expect(await call({ bytes: base64('123456789'), name: 'a.txt' })).toEqual(wrong('a.txt'));
    expect(await call({ bytes: base64('12345678'), name: 'a.txt' })).toEqual([
      false,
      expect.stringContaining('cannot be had here: more than 4 bytes'),
    ]);
    expect(await client.resources()).toEqual([]);
  });
});
