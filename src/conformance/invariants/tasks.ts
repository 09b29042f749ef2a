import { artifactContent, terminalStates } from '../observation/task-tracker.ts';
import { defineInvariants, type Observation } from '../observation/observation.ts';
import { isJsonObject } from '../drivers/normalized-views.ts';

/** What must hold between two looks at one task, wherever they were taken. */
export const taskInvariants = defineInvariants([
  {
    id: 'task.terminal',
    requirements: ['GET-001', 'STRM-006', 'MODE-002'],
    section: '4.1.3',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task that has ended stays as it ended.',
    remedy: 'Let nothing change the status of a task that is completed, failed, canceled or rejected.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (
        observation.kind !== 'task' ||
        !observation.trackedTask ||
        !terminalStates.has(observation.trackedTask.state)
      )
        return undefined;
      const { task, trackedTask, from } = observation;
      if (task.state === trackedTask.state) return [];
      return [`Task ${task.id} had ended as ${trackedTask.state}, and ${from} shows it as ${task.state}`];
    },
  },
  {
    id: 'task.context',
    requirements: ['CTX-002', 'CTX-005', 'TURN-004'],
    section: '3.4.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task keeps its context.',
    remedy: 'Store the context with the task, and show it everywhere.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'task' || observation.trackedTask?.contextId === undefined) return undefined;
      const { task, trackedTask } = observation;
      if (task.contextId === undefined || task.contextId === trackedTask.contextId) return [];
      return [`Task ${task.id} was in context ${trackedTask.contextId} and is in ${task.contextId} now`];
    },
  },
  {
    id: 'task.asked-context',
    requirements: ['CTX-004', 'CTX-005'],
    section: '3.4.1',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A message with a context is answered in that context, or refused.',
    remedy: 'Use the contextId of the message; refuse it if you cannot.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'response' || observation.operation !== 'send') return undefined;
      const asked = observation.input.message?.contextId;
      const task = observation.driver.decodeTask(observation.response.result);
      if (asked === undefined || !task || observation.overrides?.transform) return undefined;
      return task.contextId === asked
        ? []
        : [`The message was in context ${asked}, the task is in ${task.contextId}`];
    },
  },
  {
    id: 'task.asked-id',
    requirements: ['GET-001', 'CANC-001'],
    section: '3.1.3',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'Whoever asks for a task gets that task.',
    remedy: 'Look the task up by the id of the request.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (
        observation.kind !== 'response' ||
        (observation.operation !== 'get' && observation.operation !== 'cancel')
      )
        return undefined;
      const task = observation.driver.decodeTask(observation.response.result);
      if (!task || observation.input.id === undefined || observation.overrides?.transform) return undefined;
      return task.id === observation.input.id ? [] : [`Asked for ${observation.input.id}, got ${task.id}`];
    },
  },
  {
    id: 'task.artifacts',
    requirements: ['GET-001', 'MODE-002'],
    section: '3.1.3',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'What a task has made is there, and the same, whenever the task is looked at after its end.',
    remedy: 'Store artifacts with the task before its end is told.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (
        observation.kind !== 'task' ||
        !observation.trackedTask ||
        !terminalStates.has(observation.trackedTask.state)
      )
        return undefined;
      const { task, trackedTask } = observation;
      if (trackedTask.artifacts.size === 0) return undefined;
      const now = new Map((task.artifacts ?? []).map((each) => [each.id, artifactContent(each)]));
      const wrong: string[] = [];
      for (const [id, content] of trackedTask.artifacts) {
        const found = now.get(id);
        if (found === undefined) wrong.push(`Artifact ${id} of task ${task.id} is gone`);
        else if (found !== content) wrong.push(`Artifact ${id} of task ${task.id} has changed`);
      }
      return wrong;
    },
  },
  {
    id: 'task.history-limit',
    requirements: ['HIST-002'],
    section: '3.2.4',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'A task never has more history than was asked for.',
    remedy: 'Give the newest historyLength messages, or fewer.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      if (observation.kind !== 'response') return undefined;
      const { historyLength } = observation.input;
      if (historyLength === undefined || historyLength < 1) return undefined;
      const task = observation.driver.decodeTask(observation.response.result);
      if (!task) return undefined;
      const length = task.history?.length ?? 0;
      return length <= historyLength ? [] : [`${length} messages although ${historyLength} were asked for`];
    },
  },
  {
    id: 'task.agent-message',
    requirements: ['MODEL-005'],
    section: '4.1.4',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'What an agent says names its context, and its task where there is one.',
    remedy: 'Put contextId and taskId into every message of the agent.',
    versions: ['1.0'],
    check(observation) {
      if (observation.kind !== 'task') return undefined;
      const { status } = observation.task.raw as {
        status?: { message?: { contextId?: unknown; taskId?: unknown } };
      };
      const message = status?.message;
      if (!message) return undefined;
      const wrong: string[] = [];
      if (message.contextId !== observation.task.contextId)
        wrong.push(`The message of the status has the context ${JSON.stringify(message.contextId)}`);
      if (message.taskId !== observation.task.id)
        wrong.push(`The message of the status has the task ${JSON.stringify(message.taskId)}`);
      return wrong;
    },
  },
  {
    id: 'task.agent-role',
    requirements: ['MODEL-006'],
    section: '4.1.5',
    level: 'MUST',
    category: 'lifecycle',
    sentence: 'What an agent says has the role of the agent: in a status, and as an answer.',
    remedy: 'Send ROLE_AGENT (agent, before 1.0) with every message that the agent wrote.',
    versions: ['1.0', '0.3', '0.1'],
    check(observation) {
      const message = spokenIn(observation);
      if (!isJsonObject(message) || typeof message.role !== 'string') return undefined;
      // Whatever else is wrong with the role is a matter of the model.
      return /^(role_)?user$/i.test(message.role)
        ? [`The agent speaks with the role ${JSON.stringify(message.role)}`]
        : [];
    },
  },
]);

/** The message of the agent itself; what is in the history may be anybody's. */
function spokenIn(observation: Observation): unknown {
  if (observation.kind === 'task') return messageIn(observation.task.raw);
  if (observation.kind === 'response')
    return observation.operation === 'send'
      ? observation.driver.decodeMessage(observation.response.result)?.raw
      : undefined;
  if (observation.kind !== 'event' || !isJsonObject(observation.event.raw)) return undefined;
  const { raw, kind } = observation.event;
  if (kind === 'message') return isJsonObject(raw.message) ? raw.message : raw;
  return kind === 'status' ? messageIn(isJsonObject(raw.statusUpdate) ? raw.statusUpdate : raw) : undefined;
}

function messageIn({ status }: { readonly status?: unknown }): unknown {
  return isJsonObject(status) ? status.message : undefined;
}
