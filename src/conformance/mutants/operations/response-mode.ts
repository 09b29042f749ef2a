import type { JsonObject } from '../../../primitives/json.ts';
import type { SendRequest } from '../../../protocol/requests.ts';
import { isTask } from '../../../protocol/task.ts';
import { type MutantAgent, mutant } from '../harness/mutant-agent.ts';
import { in1_0, inAllVersions, since0_3 } from '../harness/operation-mutants.ts';
import { mapEvents } from '../harness/stream-overrides.ts';

const withReturnImmediately = (request: SendRequest, returnImmediately: boolean): SendRequest => ({
  ...request,
  configuration: { ...request.configuration, returnImmediately },
});

/** Mutants of blocking mode and history length. */
export const responseModeMutants: readonly MutantAgent[] = [
  in1_0(
    'mode.blocking:never-waits',
    'Every send returns immediately.',
    (agent) => ({
      send: (request, call) => agent.send(withReturnImmediately(request, true), call),
    }),
    ['mode.blocking-input'],
  ),
  inAllVersions('mode.newest:half', 'The result of a send has no artifacts.', (agent) => ({
    async send(request, call) {
      const result = await agent.send(request, call);
      if (!isTask(result)) return result;
      const { artifacts: _artifacts, ...task } = result;
      return task;
    },
  })),
  since0_3('mode.immediately:always-waits', 'returnImmediately is ignored.', (agent) => ({
    send: (request, call) => agent.send(withReturnImmediately(request, false), call),
  })),
  since0_3('mode.immediately-goes-on:stops', 'The task is canceled after its request returned.', (agent) => ({
    async send(request, call) {
      const result = await agent.send(request, call);
      if (isTask(result) && request.configuration?.returnImmediately)
        await agent.cancelTask({ id: result.id }, call).catch(() => {});
      return result;
    },
  })),
  in1_0('history.zero:all-of-it', 'historyLength 0 returns the whole history.', (agent) => ({
    getTask: ({ id }, call) => agent.getTask({ id }, call),
  })),
  since0_3('history.newest:oldest', 'The oldest messages are returned instead of the newest.', (agent) => ({
    async getTask({ id, historyLength }, call) {
      const task = await agent.getTask({ id }, call);
      return historyLength === undefined
        ? task
        : { ...task, history: (task.history ?? []).slice(0, historyLength) };
    },
  })),
  mutant('history.negative:takes', 'A negative historyLength is accepted.', {
    wire: () => ({
      request(request) {
        request.path = request.path.replace(/historyLength=-\d+/, 'historyLength=1');
        const json = request.json as { params?: JsonObject; configuration?: JsonObject } | undefined;
        for (const holder of [
          json?.params,
          json?.configuration,
          json?.params?.configuration as JsonObject | undefined,
        ])
          if (holder && Number(holder.historyLength) < 0) {
            holder.historyLength = 1;
            request.body = JSON.stringify(json);
          }
      },
    }),
  }),
  in1_0('mode.immediately-stream:cuts', 'A stream with returnImmediately ends after the task.', (agent) => ({
    stream(request, call) {
      const events = agent.stream(request, call);
      if (!request.configuration?.returnImmediately) return events;
      return mapEvents(events, (event) => (event.kind === 'task' ? [event] : 'stop'));
    },
  })),
];
