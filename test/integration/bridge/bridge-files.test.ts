import { describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../src/artifacts/stores/memory.ts';
import type { ArtifactStore } from '../../../src/artifacts/artifact-store.ts';
import { readArtifactUri } from '../../../src/artifacts/artifact-uri.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { startRawServer } from '../../support/http/raw-server.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** An agent that records the messages it receives. */
function recordingAgent(): { agent: LocalAgent; received: Message[] } {
  const received: Message[] = [];
  const agent = defineAgent({
    name: 'Recorder',
    description: 'Records messages',
    process: ({ message }) => {
      received.push(message);
      return 'ok';
    },
  });
  return { agent, received };
}

/** An agent that returns files. */
const fileAgent = (parts: Message['parts']): LocalAgent =>
  defineAgent({
    name: 'Painter',
    description: 'Paints',
    async *process() {
      yield { artifact: { artifactId: 'picture', name: 'picture', parts } };
    },
  });

const own = { app: 'remote', user: 'alice', session: 's', filename: 'notes.txt' };
const ownUri = 'artifact://remote/alice/s/notes.txt';

async function storeWithNotes(): Promise<ArtifactStore> {
  const store = memoryArtifactStore();
  await store.save(own, Buffer.from('old'), 'text/plain');
  await store.save(own, Buffer.from('new'), 'text/plain');
  return store;
}

describe('file parameters', () => {
  it('resolves artifact URIs, versions and inline content', async () => {
    const { agent, received } = recordingAgent();
    const actions = await bridgeToServedAgent(agent, { artifacts: await storeWithNotes() });
    const response = await actions.invoke(
      'remote/default',
      {
        prompt: 'read',
        files: [
          ownUri,
          { uri: `${ownUri}?version=0`, name: 'before.txt' },
          { bytes: base64('mine'), name: 'mine.csv' },
        ],
      },
      { userId: 'alice', sessionId: 's' },
    );
    expect(response.success).toBe(true);
    expect(received[0]?.parts).toEqual([
      { text: 'read' },
      { raw: base64('new'), filename: 'notes.txt', mediaType: 'text/plain' },
      { raw: base64('old'), filename: 'before.txt', mediaType: 'text/plain' },
      { raw: base64('mine'), filename: 'mine.csv', mediaType: 'text/csv' },
    ]);
  });

  it('accepts a single URI and a JSON list as text', async () => {
    const { agent, received } = recordingAgent();
    const actions = await bridgeToServedAgent(agent, { artifacts: await storeWithNotes() });
    for (const files of [ownUri, JSON.stringify([ownUri])])
      expect(
        (await actions.invoke('remote/default', { prompt: 'x', files }, { userId: 'alice' })).success,
      ).toBe(true);
    expect(received.map(({ parts }) => parts.length)).toEqual([2, 2]);
  });

  it.each<[string, unknown, string, string]>([
    [
      'a missing file',
      'artifact://remote/alice/s/lost.txt',
      'Cannot use file artifact://remote/alice/s/lost.txt',
      'alice',
    ],
    ['a file of another user', ownUri, `Cannot use file ${ownUri}`, 'bob'],
    ['a value that is not a URI', 'notes.txt', 'Cannot use file notes.txt', 'alice'],
    ['a local file', 'file:///etc/passwd', 'Cannot use file file:///etc/passwd', 'alice'],
    [
      'a web URL without egress',
      'http://127.0.0.1:9/a.txt',
      'fetching files from the web is disabled',
      'alice',
    ],
    ['invalid base64', { bytes: '?', name: 'odd.txt' }, 'Cannot use file odd.txt', 'alice'],
    ['inline content without a name', { bytes: 'aa==' }, 'files[0] must be a URI', 'alice'],
    [
      'content beyond maxFileBytes',
      { bytes: base64('x'.repeat(200)), name: 'big' },
      'exceed 100 bytes at files[0] (big)',
      'alice',
    ],
  ])('rejects %s without calling the agent', async (_what, file, message, userId) => {
    const { agent, received } = recordingAgent();
    const actions = await bridgeToServedAgent(agent, {
      artifacts: await storeWithNotes(),
      maxFileBytes: 100,
    });
    const response = await actions.invoke(
      'remote/default',
      { prompt: 'x', files: [file] },
      { userId, sessionId: 's' },
    );
    expect(response).toMatchObject({ success: false, status: 'ERROR' });
    expect(response.message).toContain(message);
    expect(received).toEqual([]);
  });

  it('rejects more than maxFiles files', async () => {
    const actions = await bridgeToServedAgent(sampleAgent(), { maxFiles: 1 });
    const files = [1, 2].map((n) => ({ bytes: '', name: `${n}` }));
    expect((await actions.invoke('remote/echo', { prompt: 'x', files })).message).toBe(
      'files must have at most 1 entries, not 2',
    );
  });

  it('rejects artifact URIs without an artifact store', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    expect(await actions.invoke('remote/echo', { prompt: 'x', files: [ownUri] })).toMatchObject({
      status: 'ERROR',
      message: `Cannot use file ${ownUri}: no artifact store is configured`,
    });
  });

  it('fetches web URLs that the egress policy allows', async () => {
    const web = await startRawServer((request, response) => {
      if (request.path === '/lost.txt') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end('a,b');
    });
    closeAfterTest(() => web.close());
    const { agent, received } = recordingAgent();
    const actions = await bridgeToServedAgent(agent, { egress: { allowLoopback: true } });
    const invoke = (path: string) =>
      actions.invoke('remote/default', { prompt: 'x', files: [`${web.url}${path}`] });
    expect((await invoke('/a%20b.csv?x=1')).success).toBe(true);
    expect(received[0]?.parts[1]).toEqual({ raw: base64('a,b'), filename: 'a b.csv', mediaType: 'text/csv' });
    expect((await invoke('/lost.txt')).message).toContain('/lost.txt: unexpected HTTP status 404');
    const strict = await bridgeToServedAgent(agent, { egress: {} });
    const denied = await strict.invoke('remote/default', { prompt: 'x', files: [`${web.url}/a`] });
    expect(denied.message).toContain('denied');
  });
});

describe('files in responses', () => {
  const parts = [
    { raw: base64('hal'), filename: 'a.txt', mediaType: 'text/plain' },
    { raw: base64('ves'), filename: 'a.txt', mediaType: 'text/plain' },
    { raw: base64('png'), mediaType: 'image/png' },
    { url: 'https://example.com/x/report.pdf?v=1' },
  ];
  const link = { name: 'report.pdf', mediaType: 'application/pdf', uri: parts[3]?.url };

  it('are stored and returned as reusable artifact URIs', async () => {
    const artifacts = memoryArtifactStore();
    const actions = await bridgeToServedAgent(fileAgent(parts), { artifacts });
    const { files } = await actions.invoke(
      'remote/default',
      { prompt: 'x' },
      { userId: 'alice', sessionId: 's' },
    );
    expect(files).toEqual([
      link,
      { name: 'a.txt', mediaType: 'text/plain', uri: 'artifact://remote/alice/s/a.txt?version=0', size: 6 },
      { name: 'picture-2.png', mediaType: 'image/png', uri: expect.stringMatching(/^artifact:/), size: 3 },
    ]);
    const key = readArtifactUri('artifact://remote/alice/s/a.txt?version=0');
    const stored = key && (await artifacts.load(key, key.version));
    expect(Buffer.from((await stored?.bytes()) ?? []).toString()).toBe('halves');
    const { agent, received } = recordingAgent();
    const other = await bridgeToServedAgent(agent, { agentName: 'other', artifacts });
    await other.invoke(
      'other/default',
      { prompt: 'x', files: ['artifact://remote/alice/s/a.txt'] },
      { userId: 'alice' },
    );
    expect(received[0]?.parts[1]).toMatchObject({ raw: base64('halves') });
  });

  it('are returned inline up to maxInlineBytes without a store', async () => {
    const lines: string[] = [];
    const actions = await bridgeToServedAgent(fileAgent(parts), {
      maxInlineBytes: 5,
      log: ({ message }) => lines.push(message),
    });
    const { files, success } = await actions.invoke('remote/default', { prompt: 'x' });
    expect(success).toBe(true);
    expect(files).toContainEqual({ name: 'a.txt', mediaType: 'text/plain', size: 6 });
    expect(files).toContainEqual({
      name: 'picture-2.png',
      mediaType: 'image/png',
      size: 3,
      bytes: base64('png'),
    });
    expect(lines).toEqual(['Dropped the content of a.txt: 6 bytes, and no artifact store is configured']);
    const withDefaultLimit = await bridgeToServedAgent(fileAgent(parts));
    const whole = await withDefaultLimit.invoke('remote/default', { prompt: 'x' });
    expect(whole.files).toContainEqual(expect.objectContaining({ name: 'a.txt', bytes: base64('halves') }));
  });

  it('can be fetched again by follow-up ID after a storage error', async () => {
    const store = memoryArtifactStore();
    let isFull = true;
    const artifacts: ArtifactStore = {
      ...store,
      save: (...args) =>
        isFull
          ? Promise.reject(new A2AError('UNAVAILABLE', 'The artifact store is not available'))
          : store.save(...args),
    };
    const actions = await bridgeToServedAgent(fileAgent(parts), { artifacts });
    const lost = await actions.invoke('remote/default', { prompt: 'x' });
    expect(lost).toMatchObject({
      success: false,
      status: 'ERROR',
      message: 'The artifact store is not available',
      followUpId: expect.any(String),
    });
    isFull = false;
    const found = await actions.invoke('provide_required_input', { follow_up_id: lost.followUpId });
    expect(found).toMatchObject({ success: true, status: 'COMPLETED' });
    expect(found.files).toHaveLength(3);
  });
});
