import { must } from '../rule-model.ts';
import { artifactContent, terminalStates, type TrackedTask } from '../observation/task-tracker.ts';
import { defineInvariants, type Invariant, type Observation } from '../observation/observation.ts';
import { isJsonObject } from '../../primitives/json.ts';
import type { NormalizedTask } from '../drivers/normalized-views.ts';

type ObservationOf<Kind extends Observation['kind']> = Observation & { readonly kind: Kind };

/** Compares a task with an earlier observation of it. */
function onTrackedTask(
  check: (
    task: NormalizedTask,
    earlier: TrackedTask,
    observation: ObservationOf<'task'>,
  ) => readonly string[] | undefined,
): Invariant['check'] {
  return (observation) =>
    observation.kind === 'task' && observation.trackedTask
      ? check(observation.task, observation.trackedTask, observation)
      : undefined;
}

/** Compares the task in a response with its request. */
function onTaskResponse(
  check: (task: NormalizedTask, response: ObservationOf<'response'>) => readonly string[] | undefined,
): Invariant['check'] {
  return (observation) => {
    if (observation.kind !== 'response') return undefined;
    const task = observation.driver.decodeTask(observation.response.result);
    return task && check(task, observation);
  };
}

/** Rules of tasks across several observations. */
export const taskInvariants = defineInvariants({ category: 'lifecycle', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'task.terminal',
    ...must('4.1.3', 'GET-001', 'STRM-006', 'MODE-002'),
    sentence: 'The agent never changes the state of a task in a terminal state.',
    remedy: 'Reject status changes of tasks that are completed, failed, canceled or rejected.',
    check: onTrackedTask((task, earlier, { from }) => {
      if (!terminalStates.has(earlier.state)) return undefined;
      if (task.state === earlier.state) return [];
      return [`Task ${task.id} ended as ${earlier.state}, but ${from} returns it as ${task.state}`];
    }),
  },
  {
    id: 'task.context',
    ...must('3.4.1', 'CTX-002', 'CTX-005', 'TURN-004'),
    sentence: 'The agent never changes the context of a task.',
    remedy: 'Store the contextId with the task and return it everywhere.',
    check: onTrackedTask((task, { contextId }) => {
      if (contextId === undefined) return undefined;
      if (task.contextId === undefined || task.contextId === contextId) return [];
      return [`The context of task ${task.id} changed from ${contextId} to ${task.contextId}`];
    }),
  },
  {
    id: 'task.asked-context',
    ...must('3.4.1', 'CTX-004', 'CTX-005'),
    sentence: 'The agent processes a message with a contextId in that context or rejects it.',
    remedy: 'Use the contextId of the message, or reject the message.',
    check: onTaskResponse((task, { operation, input, overrides }) => {
      const contextId = input.message?.contextId;
      if (operation !== 'send' || contextId === undefined || overrides?.transform) return undefined;
      return task.contextId === contextId
        ? []
        : [`The message was sent in context ${contextId}, but the task is in ${task.contextId}`];
    }),
  },
  {
    id: 'task.asked-id',
    ...must('3.1.3', 'GET-001', 'CANC-001'),
    sentence: 'The agent returns the task with the requested id.',
    remedy: 'Look up the task by the id of the request.',
    check: onTaskResponse((task, { operation, input, overrides }) => {
      if ((operation !== 'get' && operation !== 'cancel') || input.id === undefined || overrides?.transform)
        return undefined;
      return task.id === input.id ? [] : [`Requested ${input.id}, got ${task.id}`];
    }),
  },
  {
    id: 'task.artifacts',
    ...must('3.1.3', 'GET-001', 'MODE-002'),
    sentence: 'The agent returns a task in a terminal state always with the same artifacts.',
    remedy: 'Store the artifacts of a task before reporting its terminal state.',
    check: onTrackedTask((task, { state, artifacts }) => {
      if (!terminalStates.has(state) || artifacts.size === 0) return undefined;
      const current = new Map((task.artifacts ?? []).map((each) => [each.id, artifactContent(each)]));
      return [...artifacts].flatMap(([id, content]) => {
        if (!current.has(id)) return [`Artifact ${id} of task ${task.id} is missing`];
        return current.get(id) === content ? [] : [`Artifact ${id} of task ${task.id} has changed`];
      });
    }),
  },
  {
    id: 'task.history-limit',
    ...must('3.2.4', 'HIST-002'),
    sentence: 'The agent returns at most historyLength messages in the history of a task.',
    remedy: 'Return the newest historyLength messages, or fewer.',
    check: onTaskResponse((task, { input: { historyLength } }) => {
      if (historyLength === undefined || historyLength < 1) return undefined;
      const length = task.history?.length ?? 0;
      return length <= historyLength ? [] : [`${length} messages with historyLength ${historyLength}`];
    }),
  },
  {
    id: 'task.agent-message',
    ...must('4.1.4', 'MODEL-005'),
    sentence: 'The agent sends its messages with the contextId and, if there is a task, the taskId.',
    remedy: 'Set contextId and taskId in every message of the agent.',
    versions: ['1.0'],
    check(observation) {
      if (observation.kind !== 'task') return undefined;
      const { task } = observation;
      const message = statusMessage(task.raw);
      if (!isJsonObject(message)) return undefined;
      return [
        ...(message.contextId === task.contextId
          ? []
          : [`The status message has the contextId ${JSON.stringify(message.contextId)}`]),
        ...(message.taskId === task.id
          ? []
          : [`The status message has the taskId ${JSON.stringify(message.taskId)}`]),
      ];
    },
  },
  {
    id: 'task.agent-role',
    ...must('4.1.5', 'MODEL-006'),
    sentence: 'The agent sends its status messages and direct messages with the role of the agent.',
    remedy: 'Set the role of messages of the agent to ROLE_AGENT (before 1.0: agent).',
    check(observation) {
      const message = agentMessage(observation);
      if (!isJsonObject(message) || typeof message.role !== 'string') return undefined;
      // Other invalid roles violate the rules of the data model.
      return /^(role_)?user$/i.test(message.role)
        ? [`A message of the agent has the role ${JSON.stringify(message.role)}`]
        : [];
    },
  },
]);

/** Returns the message that the agent wrote; the history also contains messages of the user. */
function agentMessage(observation: Observation): unknown {
  if (observation.kind === 'task') return statusMessage(observation.task.raw);
  if (observation.kind === 'response')
    return observation.operation === 'send'
      ? observation.driver.decodeMessage(observation.response.result)?.raw
      : undefined;
  if (observation.kind !== 'event' || !isJsonObject(observation.event.raw)) return undefined;
  const { raw, kind } = observation.event;
  if (kind === 'message') return isJsonObject(raw.message) ? raw.message : raw;
  return kind === 'status'
    ? statusMessage(isJsonObject(raw.statusUpdate) ? raw.statusUpdate : raw)
    : undefined;
}

function statusMessage({ status }: { readonly status?: unknown }): unknown {
  return isJsonObject(status) ? status.message : undefined;
}
