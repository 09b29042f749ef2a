/* oxlint-disable typescript/unbound-method -- the functions of agents need no `this` */
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { bearer } from '../../../src/client/credentials.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { sharedViewOf } from '../../../src/primitives/copies/shared-view.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import { withInterceptor } from '../../../src/protocol/composition/with-interceptor.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { serve, type ServeOptions } from '../../../src/server/node/serve.ts';
import { createDeferred } from '../../support/engine/conversation.ts';

async function served(agent: Agent, options: ServeOptions = {}): Promise<string> {
  const server = await serve(agent, { port: 0, ...options });
  onTestFinished(() => server.stop());
  return server.url;
}

describe('a wrapper', () => {
  it.each([true, false])(
    'keeps the identity of the client in a wrapper that copies the call (fast path: %s)',
    async (fastPath) => {
      const seen: unknown[] = [];
      const agent = defineAgent({ name: 'T', description: 'T', process: () => 'done' });
      const wrapped = withInterceptor(agent, {
        '*'(_operation, request, call, next) {
          seen.push([call.principal?.id, call.headers?.['x-trace']]);
          return next(request, { ...call });
        },
      });
      const url = await served(wrapped, {
        fastPath,
        auth: { authenticators: [bearerAuth({ tokens: { a: 'ann', b: 'bob' } })] },
      });
      const as = (token: string) => connect(url, { auth: bearer(token), headers: { 'x-trace': token } });
      const [ann, bob] = [as('a'), as('b')];
      const { id } = (await ann.send('hi')) as Task;
      expect((await agent.getTask({ id }, { owner: JSON.stringify([null, 'ann', null]) })).id).toBe(id);
      await expect(agent.getTask({ id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect((await ann.getTask({ id })).id).toBe(id);
      await expect(bob.getTask({ id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(seen).toEqual([
        ['ann', 'a'],
        ['ann', 'a'],
        ['bob', 'b'],
      ]);
      await Promise.all([ann.close(), bob.close()]);
    },
  );

  it.each([true, false])(
    'ends when its client disconnects while the task waits (fast path: %s)',
    async (fastPath) => {
      const [ended, release] = [createDeferred(), createDeferred()];
      onTestFinished(release.resolve);
      const agent = defineAgent({
        name: 'T',
        description: 'T',
        async *process() {
          yield 'start';
          await release.promise;
        },
      });
      const wrapped: Agent = {
        ...agent,
        async *stream(request, call) {
          try {
            yield* agent.stream(request, call);
          } finally {
            ended.resolve();
          }
        },
      };
      const remote = connect(await served(wrapped, { fastPath }));
      for await (const event of remote.stream('hi')) if (event.kind === 'artifact') break;
      await ended.promise;
      await remote.close();
    },
  );

  it('keeps the operations without copies that it does not replace', async () => {
    const agent = defineAgent({ name: 'T', description: 'T', process: () => 'done' });
    const { id } = (await agent.send('hi')) as Task;
    for (const wrapped of [
      { ...agent },
      { ...agent, send: agent.send },
      withInterceptor(agent, { card: agent.card }),
    ]) {
      const view = sharedViewOf<Agent>(wrapped);
      // The stored task itself: a second read returns the same object.
      expect(await view.getTask({ id })).toBe(await view.getTask({ id }));
      expect(await wrapped.getTask({ id })).not.toBe(await wrapped.getTask({ id }));
    }
  });
});
