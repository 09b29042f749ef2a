import { isTask } from '../../../protocol/task.ts';
import type { Loose } from '../harness/mutations.ts';
import { defineBroken } from '../harness/mutant-agent.ts';
import { all, done, newer } from '../harness/operation-mutant.ts';
import { mapped } from '../harness/override-agent.ts';

/** Agents that wait when they should not, or give the wrong history. */
export const brokenMode = defineBroken([
  done(
    'never-waits',
    ['mode.blocking', 'mode.blocking-input'],
    'Every send is answered at once.',
    (agent) => ({
      send: (request, call) =>
        agent.send(
          { ...request, configuration: { ...request.configuration, returnImmediately: true } },
          call,
        ),
    }),
  ),
  done(
    'half',
    'mode.newest',
    'The answer to a send has no artifacts.',
    (agent) => ({
      async send(request, call) {
        const answer = await agent.send(request, call);
        if (!isTask(answer)) return answer;
        const { artifacts: _artifacts, ...task } = answer;
        return task;
      },
    }),
    all,
  ),
  done(
    'always-waits',
    'mode.immediately',
    'returnImmediately is ignored.',
    (agent) => ({
      send: (request, call) =>
        agent.send(
          { ...request, configuration: { ...request.configuration, returnImmediately: false } },
          call,
        ),
    }),
    newer,
  ),
  done(
    'stops',
    'mode.immediately-goes-on',
    'Work stops when its request is answered.',
    (agent) => ({
      async send(request, call) {
        const answer = await agent.send(request, call);
        if (isTask(answer) && request.configuration?.returnImmediately)
          await agent.cancelTask({ id: answer.id }, call).catch(() => {});
        return answer;
      },
    }),
    newer,
  ),
  done('all-of-it', 'history.zero', 'historyLength 0 gives all of it.', (agent) => ({
    getTask: ({ id }, call) => agent.getTask({ id }, call),
  })),
  done(
    'oldest',
    'history.newest',
    'The oldest messages are given instead of the newest.',
    (agent) => ({
      async getTask({ id, historyLength }, call) {
        const task = await agent.getTask({ id }, call);
        return historyLength === undefined
          ? task
          : { ...task, history: (task.history ?? []).slice(0, historyLength) };
      },
    }),
    newer,
  ),
  {
    id: 'history.negative:takes',
    breaks: 'history.negative',
    what: 'A negative historyLength is taken.',
    versions: ['1.0'],
    wire: () => ({
      request(request) {
        request.path = request.path.replace(/historyLength=-\d+/, 'historyLength=1');
        const json = request.json as { params?: Loose; configuration?: Loose } | undefined;
        for (const holder of [
          json?.params,
          json?.configuration,
          json?.params?.configuration as Loose | undefined,
        ])
          if (holder && Number(holder.historyLength) < 0) {
            holder.historyLength = 1;
            request.body = JSON.stringify(json);
          }
      },
    }),
  },
  done(
    'cuts',
    'mode.immediately-stream',
    'A stream that is to return at once ends with the task.',
    (agent) => ({
      stream(request, call) {
        const events = agent.stream(request, call);
        if (!request.configuration?.returnImmediately) return events;
        return mapped(events, (event) => (event.kind === 'task' ? [event] : 'stop'));
      },
    }),
  ),
]);
