import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrafficLog } from '../../tap/traffic-log.ts';
import type { ChatEvent, KeptTurn } from '../console-api.ts';
import { ConversationTurn } from './conversation-turn.ts';
import { conversationLimits, Conversations } from './conversations.ts';
import { FolderLock } from './folder-lock.ts';
import { recordingLimits, Recordings } from './recordings.ts';
import { SessionFolder } from './session-folder.ts';
import { sessionLocation } from './session-location.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-sessions-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const turn = (changes: Partial<KeptTurn> = {}): KeptTurn => ({
  id: 't',
  at: 0,
  input: [{ text: 'hi' }],
  events: [],
  omitted: 0,
  isRunning: true,
  ...changes,
});
const chunkEvent = (text: string, append?: boolean): ChatEvent => ({
  kind: 'event',
  event: {
    kind: 'artifact',
    taskId: 'x',
    contextId: 'c',
    artifact: { artifactId: 'a', parts: [{ text }] },
    ...(append !== undefined && { append }),
  },
  findings: [],
});

describe('session location', () => {
  it('prefers the flag, then the variable, then the folder of the platform', () => {
    expect(sessionLocation('/a', { DRAGOMAN_SESSIONS: '/b' })).toBe('/a');
    expect(sessionLocation(undefined, { DRAGOMAN_SESSIONS: '/b' })).toBe('/b');
    expect(sessionLocation(undefined, {})).toMatch(/dragoman.console$/);
  });

  it('is undefined for off', () => {
    expect(sessionLocation('off', {})).toBeUndefined();
    expect(sessionLocation(undefined, { DRAGOMAN_SESSIONS: 'OFF' })).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('ignores a relative XDG folder, as its specification says', () => {
    expect(sessionLocation(undefined, { XDG_STATE_HOME: '/state' })).toBe('/state/dragoman/console');
    expect(sessionLocation(undefined, { XDG_STATE_HOME: 'state' })).toMatch(/\/\.local\/state\/dragoman/);
  });
});

describe('folder lock', () => {
  it('admits one holder until it releases', () => {
    const lock = FolderLock.take(root);
    expect(FolderLock.take(root)).toBeUndefined();
    lock?.release();
    const next = FolderLock.take(root);
    expect(next?.isHeld()).toBe(true);
    next?.release();
  });

  it('takes over a lock that was not renewed, and the former holder notices', () => {
    const former = FolderLock.take(root);
    const past = new Date(Date.now() - 120_000);
    utimesSync(join(root, 'lock'), past, past);
    const next = FolderLock.take(root);
    expect([former?.isHeld(), next?.isHeld()]).toEqual([false, true]);
    former?.release();
    expect(next?.isHeld()).toBe(true);
    next?.release();
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('conversation turn', () => {
  it('joins chunks that follow each other', async () => {
    const streamed = new ConversationTurn(turn());
    for (const [index, text] of ['a', 'b', 'c'].entries())
      await streamed.add(chunkEvent(text, index === 0 ? undefined : true));
    await streamed.add({ kind: 'done' });
    expect(streamed.toJSON().events).toEqual([chunkEvent('abc'), { kind: 'done' }]);
    expect(streamed.taskId).toBe('x');
  });

  it('counts events over the limit instead of keeping them, and keeps the end', async () => {
    const flooded = new ConversationTurn(turn());
    for (let index = 0; index < 5; index++) await flooded.add(chunkEvent('x'.repeat(700_000), true));
    await flooded.add({ kind: 'done' });
    const { omitted, events } = flooded.toJSON();
    expect(omitted).toBe(3);
    expect(events.at(-1)).toEqual({ kind: 'done' });
    expect(JSON.stringify(events).length).toBeLessThan(2 * 1_024 * 1_024);
  });

  it('does not keep large files of the user', () => {
    const { input } = new ConversationTurn(
      turn({ input: [{ raw: 'AAAA'.repeat(200_000), filename: 'big.bin', mediaType: 'image/png' }] }),
    );
    expect(input).toEqual([
      { filename: 'big.bin', mediaType: 'text/plain', text: '(600000 bytes, not kept)' },
    ]);
  });
});

describe('conversations', () => {
  it('removes the oldest conversations and messages over the limits', async () => {
    const folder = SessionFolder.open(root);
    const limits = { ...conversationLimits, maxConversations: 2, maxTurns: 3 };
    const conversations = new Conversations(folder, limits);
    for (const id of ['a', 'b', 'c'])
      for (let index = 0; index < 5; index++) {
        const started = conversations.start({ id, turn: String(index) }, 'agent', { input: [{ text: id }] });
        conversations.run(id, started, async () => {});
      }
    expect(conversations.list().map(({ id }) => id)).toEqual(['c', 'b']);
    expect(conversations.get('c').turns.map(({ id }) => id)).toEqual(['2', '3', '4']);
    await conversations.close();
    expect(readdirSync(join(root, '1', 'conversations')).toSorted()).toEqual(['b.json', 'c.json']);
    folder.close();
  });
});

describe('conversations that are being written', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['remove', (kept: Conversations) => kept.remove('a')],
    ['clear', (kept: Conversations) => kept.clear()],
  ])('leave no file behind after %s', async (_name, remove) => {
    const folder = SessionFolder.open(root);
    const conversations = new Conversations(folder);
    conversations.start({ id: 'a', turn: 't' }, 'agent', { input: [{ text: 'x'.repeat(5_000_000) }] });
    conversations.rename('a', 'long');
    vi.runAllTimers();
    await remove(conversations);
    expect(readdirSync(join(root, '1', 'conversations'))).toEqual([]);
    folder.close();
  });
});

describe('recordings', () => {
  it('keeps the newest records of a long run, and the newest recordings', async () => {
    const folder = SessionFolder.open(root);
    const log = new TrafficLog();
    const recordings = new Recordings(folder, log, {
      ...recordingLimits,
      maxCharacters: 2_000,
      maxRecordings: 2,
    });
    for (let index = 0; index < 100; index++)
      log.add({ at: index, exchangeId: 'e', kind: 'message', from: 'a', to: 'b', text: `text ${index}` });
    const [live] = await recordings.list();
    const records = await recordings.read(live?.id ?? '');
    expect(records.at(-1)?.text).toBe('text 99');
    expect(live?.size).toBeLessThan(2_000);
    for (const name of ['one', 'two', 'three']) await recordings.keep(name, records);
    expect(await recordings.list()).toHaveLength(2);
    await recordings.close();
    folder.close();
  });

  it('removes what a killed console left half written', () => {
    SessionFolder.open(root).close();
    writeFileSync(join(root, '1', 'agents.json.x.tmp'), '{"for');
    const folder = SessionFolder.open(root);
    expect(readdirSync(join(root, '1'))).toEqual(['lock']);
    expect(readFileSync(join(root, '1', 'lock'), 'utf8')).toContain(String(process.pid));
    folder.close();
  });
});
