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

/** An agent that keeps what it heard. */
function listener(): { agent: LocalAgent; heard: Message[] } {
  const heard: Message[] = [];
  const agent = defineAgent({
    name: 'Ear',
    description: 'Listens',
    process: ({ message }) => {
      heard.push(message);
      return 'ok';
    },
  });
  return { agent, heard };
}

/** An agent that gives files. */
const painter = (parts: Message['parts']): LocalAgent =>
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

describe('files of a caller', () => {
  it('are read from the store, or come with the call', async () => {
    const { agent, heard } = listener();
    const made = await bridgeToServedAgent(agent, { artifacts: await storeWithNotes() });
    const response = await made.invoke(
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
    expect(heard[0]?.parts).toEqual([
      { text: 'read' },
      { raw: base64('new'), filename: 'notes.txt', mediaType: 'text/plain' },
      { raw: base64('old'), filename: 'before.txt', mediaType: 'text/plain' },
      { raw: base64('mine'), filename: 'mine.csv', mediaType: 'text/csv' },
    ]);
  });

  it('may be one address, or a list in a text', async () => {
    const { agent, heard } = listener();
    const made = await bridgeToServedAgent(agent, { artifacts: await storeWithNotes() });
    for (const files of [ownUri, JSON.stringify([ownUri])])
      expect((await made.invoke('remote/default', { prompt: 'x', files }, { userId: 'alice' })).success).toBe(
        true,
      );
    expect(heard.map(({ parts }) => parts.length)).toEqual([2, 2]);
  });

  it.each<[string, unknown, string, string]>([
    ['that is not there', 'artifact://remote/alice/s/lost.txt', 'lost.txt cannot be used', 'alice'],
    ['of another user', ownUri, 'notes.txt cannot be used', 'bob'],
    ['that is no address', 'notes.txt', 'The file notes.txt cannot be used', 'alice'],
    ['of this machine', 'file:///etc/passwd', 'The file file:///etc/passwd cannot be used', 'alice'],
    ['from the web', 'http://127.0.0.1:9/a.txt', 'files are not fetched from the web here', 'alice'],
    ['that is no base64', { bytes: '?', name: 'odd.txt' }, 'The file odd.txt cannot be used', 'alice'],
    ['without a name', { bytes: 'aa==' }, 'files[0] must be an address', 'alice'],
    ['beyond the limit', { bytes: base64('x'.repeat(200)), name: 'big' }, '(big) is too much', 'alice'],
  ])('fail the call with the name of one %s', async (_what, file, message, userId) => {
    const { agent, heard } = listener();
    const made = await bridgeToServedAgent(agent, { artifacts: await storeWithNotes(), maxFileBytes: 100 });
    const response = await made.invoke(
      'remote/default',
      { prompt: 'x', files: [file] },
      { userId, sessionId: 's' },
    );
    expect(response).toMatchObject({ success: false, status: 'ERROR' });
    expect(response.message).toContain(message);
    expect(heard).toEqual([]);
  });

  it('are not too many', async () => {
    const made = await bridgeToServedAgent(sampleAgent(), { maxFiles: 1 });
    const files = [1, 2].map((n) => ({ bytes: '', name: `${n}` }));
    expect((await made.invoke('remote/echo', { prompt: 'x', files })).message).toBe(
      'files are 2; 1 may come with a call',
    );
  });

  it('need a store for their addresses', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    expect(await made.invoke('remote/echo', { prompt: 'x', files: [ownUri] })).toMatchObject({
      status: 'ERROR',
      message: `The file ${ownUri} cannot be used: there is no artifact store`,
    });
  });

  it('are fetched from the web where that is allowed', async () => {
    const web = await startRawServer((request, response) => {
      if (request.path === '/lost.txt') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end('a,b');
    });
    closeAfterTest(() => web.close());
    const { agent, heard } = listener();
    const made = await bridgeToServedAgent(agent, { egress: { allowLoopback: true } });
    const ask = (path: string) =>
      made.invoke('remote/default', { prompt: 'x', files: [`${web.url}${path}`] });
    expect((await ask('/a%20b.csv?x=1')).success).toBe(true);
    expect(heard[0]?.parts[1]).toEqual({ raw: base64('a,b'), filename: 'a b.csv', mediaType: 'text/csv' });
    expect((await ask('/lost.txt')).message).toContain('/lost.txt cannot be used: the answer was 404');
    const strict = await bridgeToServedAgent(agent, { egress: {} });
    const refused = await strict.invoke('remote/default', { prompt: 'x', files: [`${web.url}/a`] });
    expect(refused.message).toContain('denied');
  });
});

describe('files of an agent', () => {
  const parts = [
    { raw: base64('hal'), filename: 'a.txt', mediaType: 'text/plain' },
    { raw: base64('ves'), filename: 'a.txt', mediaType: 'text/plain' },
    { raw: base64('png'), mediaType: 'image/png' },
    { url: 'https://example.com/x/report.pdf?v=1' },
  ];
  const link = { name: 'report.pdf', mediaType: 'application/pdf', uri: parts[3]?.url };

  it('are saved, and given as addresses that can be used again', async () => {
    const artifacts = memoryArtifactStore();
    const made = await bridgeToServedAgent(painter(parts), { artifacts });
    const { files } = await made.invoke(
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
    const kept = key && (await artifacts.load(key, key.version));
    expect(Buffer.from((await kept?.bytes()) ?? []).toString()).toBe('halves');
    const { agent, heard } = listener();
    const other = await bridgeToServedAgent(agent, { agentName: 'other', artifacts });
    await other.invoke(
      'other/default',
      { prompt: 'x', files: ['artifact://remote/alice/s/a.txt'] },
      { userId: 'alice' },
    );
    expect(heard[0]?.parts[1]).toMatchObject({ raw: base64('halves') });
  });

  it('are given as bytes where they are small and there is no store', async () => {
    const lines: string[] = [];
    const made = await bridgeToServedAgent(painter(parts), {
      maxInlineBytes: 5,
      log: ({ message }) => lines.push(message),
    });
    const { files, success } = await made.invoke('remote/default', { prompt: 'x' });
    expect(success).toBe(true);
    expect(files).toContainEqual({ name: 'a.txt', mediaType: 'text/plain', size: 6 });
    expect(files).toContainEqual({
      name: 'picture-2.png',
      mediaType: 'image/png',
      size: 3,
      bytes: base64('png'),
    });
    expect(lines).toEqual(['a.txt has 6 bytes, and there is no artifact store to keep it']);
    const roomy = await bridgeToServedAgent(painter(parts));
    const whole = await roomy.invoke('remote/default', { prompt: 'x' });
    expect(whole.files).toContainEqual(expect.objectContaining({ name: 'a.txt', bytes: base64('halves') }));
  });

  it('can be asked for again when they could not be saved', async () => {
    const store = memoryArtifactStore();
    let isFull = true;
    const artifacts: ArtifactStore = {
      ...store,
      save: (...given) =>
        isFull
          ? Promise.reject(new A2AError('UNAVAILABLE', 'The artifact store is not available'))
          : store.save(...given),
    };
    const made = await bridgeToServedAgent(painter(parts), { artifacts });
    const lost = await made.invoke('remote/default', { prompt: 'x' });
    expect(lost).toMatchObject({
      success: false,
      status: 'ERROR',
      message: 'The artifact store is not available',
      followUpId: expect.any(String),
    });
    isFull = false;
    const found = await made.invoke('provide_required_input', { follow_up_id: lost.followUpId });
    expect(found).toMatchObject({ success: true, status: 'COMPLETED' });
    expect(found.files).toHaveLength(3);
  });
});
