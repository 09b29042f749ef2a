import { isTask } from '../../../protocol/task.ts';
import type { MutableJson } from '../harness/mutations.ts';
import { defineMutants } from '../harness/mutant-agent.ts';
import { allVersions, operationMutant, versionsSince0_3 } from '../harness/operation-mutant.ts';
import { mapEvents } from '../harness/override-agent.ts';

/** Agents that wait when they should not, or give the wrong history. */
export const responseModeMutants = defineMutants([
  operationMutant(
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
  operationMutant(
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
    allVersions,
  ),
  operationMutant(
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
    versionsSince0_3,
  ),
  operationMutant(
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
    versionsSince0_3,
  ),
  operationMutant('all-of-it', 'history.zero', 'historyLength 0 gives all of it.', (agent) => ({
    getTask: ({ id }, call) => agent.getTask({ id }, call),
  })),
  operationMutant(
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
    versionsSince0_3,
  ),
  {
    id: 'history.negative:takes',
    violates: 'history.negative',
    description: 'A negative historyLength is taken.',
    versions: ['1.0'],
    wire: () => ({
      request(request) {
        request.path = request.path.replace(/historyLength=-\d+/, 'historyLength=1');
        const json = request.json as { params?: MutableJson; configuration?: MutableJson } | undefined;
        for (const holder of [
          json?.params,
          json?.configuration,
          json?.params?.configuration as MutableJson | undefined,
        ])
          if (holder && Number(holder.historyLength) < 0) {
            holder.historyLength = 1;
            request.body = JSON.stringify(json);
          }
      },
    }),
  },
  operationMutant(
    'cuts',
    'mode.immediately-stream',
    'A stream that is to return at once ends with the task.',
    (agent) => ({
      stream(request, call) {
        const events = agent.stream(request, call);
        if (!request.configuration?.returnImmediately) return events;
        return mapEvents(events, (event) => (event.kind === 'task' ? [event] : 'stop'));
      },
    }),
  ),
]);
