import { describe, expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import type { ArtifactKey } from '../artifact-store.ts';
import { withArtifacts, type WithArtifactsOptions } from '../with-artifacts.ts';

const call: CallContext = { owner: 'alice' };
const key: ArtifactKey = { app: 'ns/', user: 'alice', session: 's-1', filename: 'input.txt' };
const uri = 'artifact://helper/alice/s-1/input.txt?version=0';

/** An agent behind the wrapper, and what reached it. */
async function wrapped(options: Partial<WithArtifactsOptions> = {}) {
  const store = memoryArtifactStore();
  await store.save(key, Buffer.from('first'), 'text/plain');
  await store.save(key, Buffer.from('second'), 'text/plain');
  const seen: SendRequest[] = [];
  const answer: Message = { messageId: 'a-1', role: 'agent', parts: [{ text: 'ok' }] };
  const inner: Agent = stubAgent(defineAgent({ name: 'helper', description: '', process: () => 'ok' }), {
    async send(request) {
      seen.push(request);
      return answer;
    },
  });
  const agent = withArtifacts(inner, { store, app: 'helper', namespace: 'ns/', ...options });
  return { agent, store, seen };
}

const message = (parts: Part[], more: Partial<Message> = {}): SendRequest => ({
  message: { messageId: 'm-1', role: 'user', contextId: 's-1', parts, ...more },
});

const textIn = (part: Part | undefined): string =>
  part && 'raw' in part ? Buffer.from(bytesOf(part)).toString() : 'no bytes';

async function refused(answer: Promise<unknown>): Promise<A2AError> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown as A2AError,
  );
  if (!error) throw new Error('it was not refused');
  return error;
}

describe('what a caller links to', () => {
  it('reaches the agent as bytes, with its name and type', async () => {
    const { agent, seen } = await wrapped();
    await agent.send(message([{ text: 'look' }, { url: uri }]), call);
    const [text, file] = seen[0]?.message.parts ?? [];
    expect(text).toEqual({ text: 'look' });
    expect(file).toEqual({
      raw: Buffer.from('first').toString('base64'),
      filename: 'input.txt',
      mediaType: 'text/plain',
    });
  });

  it('keeps the name and the type that the caller gave', async () => {
    const { agent, seen } = await wrapped();
    const metadata = { a: 1 };
    await agent.send(
      message([{ url: uri, filename: 'mine.md', mediaType: 'text/markdown', metadata }]),
      call,
    );
    expect(seen[0]?.message.parts[0]).toMatchObject({
      filename: 'mine.md',
      mediaType: 'text/markdown',
      metadata,
    });
  });

  it('is the newest version when none is named, and whatever application the link names', async () => {
    const { agent, seen } = await wrapped();
    await agent.send(message([{ url: 'artifact://another/alice/s-1/input.txt' }]), call);
    expect(textIn(seen[0]?.message.parts[0])).toBe('second');
  });

  it('is found by application where each has its own files', async () => {
    const { agent, store, seen } = await wrapped({ scope: 'app' });
    await store.save({ ...key, app: 'other' }, Buffer.from('of another'), 'text/plain');
    await agent.send(message([{ url: 'artifact://other/alice/s-1/input.txt' }]), call);
    expect(textIn(seen[0]?.message.parts[0])).toBe('of another');
    await refused(agent.send(message([{ url: uri }]), call));
  });

  it('is left alone when it lives on the web', async () => {
    const { agent, seen } = await wrapped();
    const request = message([{ url: 'https://files.example/x' }, { text: 'no artifact here' }]);
    await agent.send(request, call);
    expect(seen[0]).toBe(request);
  });

  it.each([
    ['a version that is not there', 'artifact://helper/alice/s-1/input.txt?version=7'],
    ['a file that is not there', 'artifact://helper/alice/s-1/none.txt'],
    ['a file of another user', 'artifact://helper/bob/s-1/input.txt'],
    ['a way out of the folder', 'artifact://helper/alice/s-1/..%2F..%2Fsecret'],
    ['what is no URI of a file', 'artifact://helper/input.txt'],
    ['what is no version', 'artifact://helper/alice/s-1/input.txt?version=x'],
  ])('is refused by name when it is %s', async (_what, url) => {
    const { agent, seen, store } = await wrapped();
    await store.save({ ...key, user: 'bob' }, Buffer.from('secret'), 'text/plain');
    const error = await refused(agent.send(message([{ text: 'x' }, { url }]), call));
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toContain(url);
    expect(error.violations[0]?.field).toBe('message.parts[1].url');
    expect(seen).toEqual([]);
  });

  it('says the same of what is not there and of what is not theirs', async () => {
    const { agent, store } = await wrapped();
    const send = () => refused(agent.send(message([{ url: 'artifact://helper/bob/s/x' }]), call));
    const before = await send();
    await store.save(
      { app: 'ns/', user: 'bob', session: 's', filename: 'x' },
      Buffer.from('x'),
      'text/plain',
    );
    expect((await send()).message).toBe(before.message);
  });

  it('may be of another user when somebody allows it', async () => {
    const asked: unknown[] = [];
    const { agent, store, seen } = await wrapped({
      canRead(wanted, by) {
        asked.push([wanted, by]);
        return true;
      },
    });
    await store.save({ ...key, user: 'bob' }, Buffer.from('shared'), 'text/plain');
    await agent.send(message([{ url: 'artifact://helper/bob/s-1/input.txt' }]), call);
    expect(textIn(seen[0]?.message.parts[0])).toBe('shared');
    expect(asked).toEqual([[{ ...key, user: 'bob' }, call]]);
  });

  it('is limited in size and number', async () => {
    const { agent } = await wrapped({ maxInlineBytes: 10, limits: { maxFiles: 2 } });
    const link = { url: uri };
    expect((await refused(agent.send(message([link, { url: `${uri.slice(0, -1)}1` }]), call))).reason).toBe(
      'PAYLOAD_TOO_LARGE',
    );
    const { agent: other } = await wrapped({ limits: { maxFiles: 2 } });
    const error = await refused(other.send(message([link, link, link]), call));
    expect(error.message).toContain('message.parts[2].url is one file too many');
  });
});

describe('what a text mentions', () => {
  it('is added, and the text stays', async () => {
    const { agent, seen } = await wrapped();
    const text =
      'Please process artifact://helper/alice/s-1/input.txt?version=0, and (artifact://helper/alice/s-1/input.txt).';
    await agent.send(message([{ text }]), call);
    const parts = seen[0]?.message.parts ?? [];
    expect(parts[0]).toEqual({ text });
    expect(parts.slice(1).map(textIn)).toEqual(['first', 'second']);
    expect(parts[1]).toMatchObject({ filename: 'input.txt', mediaType: 'text/plain' });
  });

  it('is added once, and not when it is linked to as well', async () => {
    const { agent, seen } = await wrapped();
    await agent.send(message([{ text: `${uri} ${uri}` }, { url: uri }]), call);
    expect(seen[0]?.message.parts).toHaveLength(2);
  });

  it('is refused when it is not there', async () => {
    const { agent } = await wrapped();
    const error = await refused(
      agent.send(message([{ text: 'see artifact://helper/alice/s-1/none.txt!' }]), call),
    );
    expect(error.message).toContain(
      'message.parts[0].text names a file that is not there: artifact://helper/alice/s-1/none.txt',
    );
  });

  it('is left alone when it only looks like a URI, or when nobody wants it', async () => {
    const { agent, seen } = await wrapped();
    const vague = message([{ text: 'Please process artifact://.../input.txt' }]);
    await agent.send(vague, call);
    expect(seen[0]).toBe(vague);
    const { agent: other, seen: others } = await wrapped({ resolveMentions: false });
    const exact = message([{ text: uri }]);
    await other.send(exact, call);
    expect(others[0]).toBe(exact);
  });
});

describe('what a message was invoked with', () => {
  it('comes with it', async () => {
    const { agent, seen } = await wrapped();
    const invoked_with_artifacts = [{ filename: 'input.txt', version: 0 }, { filename: 'input.txt' }];
    await agent.send(message([{ text: 'go' }], { metadata: { invoked_with_artifacts } }), call);
    expect(seen[0]?.message.parts.slice(1).map(textIn)).toEqual(['first', 'second']);
  });

  it('may stand beside the message', async () => {
    const { agent, seen } = await wrapped();
    const request = message([{ text: 'go' }]);
    await agent.send(
      { ...request, metadata: { invoked_with_artifacts: [{ filename: 'input.txt', version: 1 }] } },
      call,
    );
    expect(seen[0]?.message.parts.slice(1).map(textIn)).toEqual(['second']);
  });

  it.each([
    ['a list', 'input.txt', 'message.metadata.invoked_with_artifacts must be an array'],
    ['a name', [{ version: 1 }], 'message.metadata.invoked_with_artifacts[0] must have a filename'],
    [
      'a version',
      [{ filename: 'x', version: -1 }],
      'message.metadata.invoked_with_artifacts[0].version must be',
    ],
    ['a file', [{ filename: 'none.txt' }], 'names a file that is not there: none.txt'],
  ])('needs %s', async (_what, invoked_with_artifacts, words) => {
    const { agent } = await wrapped();
    const error = await refused(
      agent.send(message([{ text: 'go' }], { metadata: { invoked_with_artifacts } }), call),
    );
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toContain(words);
  });

  it('needs a conversation, unless the file belongs to all of them', async () => {
    const { agent, store, seen } = await wrapped();
    const go = (filename: string) =>
      agent.send(
        message([{ text: 'go' }], {
          contextId: undefined,
          metadata: { invoked_with_artifacts: [{ filename }] },
        }),
        call,
      );
    expect((await refused(go('input.txt'))).message).toContain('is of no conversation');
    await store.save({ ...key, filename: 'user:profile.json' }, Buffer.from('{}'), 'application/json');
    await go('user:profile.json');
    expect(seen[0]?.message.parts[1]).toMatchObject({
      filename: 'profile.json',
      mediaType: 'application/json',
    });
  });
});

it('gives the caller back its links when the agent shows its message again', async () => {
  const { store } = await wrapped();
  const inner = defineAgent({ name: 'helper', description: '', process: () => 'done' });
  const agent = withArtifacts(inner, { store, app: 'helper', namespace: 'ns/' });
  const answer = await agent.send(message([{ text: `see ${uri}` }, { url: `${uri.slice(0, -1)}1` }]), call);
  if (!('status' in answer)) throw new Error('no task');
  const task = await agent.getTask({ id: answer.id }, call);
  for (const { history, metadata } of [answer, task]) {
    const said = history?.find(({ role }) => role === 'user');
    expect(said?.parts.slice(1)).toEqual([
      { url: `${uri.slice(0, -1)}1` },
      { url: uri, filename: 'input.txt' },
    ]);
    expect(metadata?.produced_artifacts).toBeUndefined();
  }
  expect(await store.versions(key)).toEqual([0, 1]);
  await inner.close?.();
});
