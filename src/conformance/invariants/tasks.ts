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
    check(sighting) {
      if (sighting.kind !== 'task' || !sighting.shadow || !terminalStates.has(sighting.shadow.state))
        return undefined;
      const { task, shadow, from } = sighting;
      if (task.state === shadow.state) return [];
      return [`Task ${task.id} had ended as ${shadow.state}, and ${from} shows it as ${task.state}`];
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
    check(sighting) {
      if (sighting.kind !== 'task' || sighting.shadow?.contextId === undefined) return undefined;
      const { task, shadow } = sighting;
      if (task.contextId === undefined || task.contextId === shadow.contextId) return [];
      return [`Task ${task.id} was in context ${shadow.contextId} and is in ${task.contextId} now`];
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
    check(sighting) {
      if (sighting.kind !== 'answer' || sighting.operation !== 'send') return undefined;
      const asked = sighting.asking.message?.contextId;
      const task = sighting.speech.taskOf(sighting.heard.result);
      if (asked === undefined || !task || sighting.manner?.alter) return undefined;
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
    check(sighting) {
      if (sighting.kind !== 'answer' || (sighting.operation !== 'get' && sighting.operation !== 'cancel'))
        return undefined;
      const task = sighting.speech.taskOf(sighting.heard.result);
      if (!task || sighting.asking.id === undefined || sighting.manner?.alter) return undefined;
      return task.id === sighting.asking.id ? [] : [`Asked for ${sighting.asking.id}, got ${task.id}`];
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
    check(sighting) {
      if (sighting.kind !== 'task' || !sighting.shadow || !terminalStates.has(sighting.shadow.state))
        return undefined;
      const { task, shadow } = sighting;
      if (shadow.artifacts.size === 0) return undefined;
      const now = new Map((task.artifacts ?? []).map((each) => [each.id, artifactContent(each)]));
      const wrong: string[] = [];
      for (const [id, content] of shadow.artifacts) {
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
    check(sighting) {
      if (sighting.kind !== 'answer') return undefined;
      const { historyLength } = sighting.asking;
      if (historyLength === undefined || historyLength < 1) return undefined;
      const task = sighting.speech.taskOf(sighting.heard.result);
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
    check(sighting) {
      if (sighting.kind !== 'task') return undefined;
      const { status } = sighting.task.raw as {
        status?: { message?: { contextId?: unknown; taskId?: unknown } };
      };
      const message = status?.message;
      if (!message) return undefined;
      const wrong: string[] = [];
      if (message.contextId !== sighting.task.contextId)
        wrong.push(`The message of the status has the context ${JSON.stringify(message.contextId)}`);
      if (message.taskId !== sighting.task.id)
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
    check(sighting) {
      const message = spokenIn(sighting);
      if (!isJsonObject(message) || typeof message.role !== 'string') return undefined;
      // Whatever else is wrong with the role is a matter of the model.
      return /^(role_)?user$/i.test(message.role)
        ? [`The agent speaks with the role ${JSON.stringify(message.role)}`]
        : [];
    },
  },
]);

/** The message of the agent itself; what is in the history may be anybody's. */
function spokenIn(sighting: Observation): unknown {
  if (sighting.kind === 'task') return messageIn(sighting.task.raw);
  if (sighting.kind === 'answer')
    return sighting.operation === 'send' ? sighting.speech.messageOf(sighting.heard.result)?.raw : undefined;
  if (sighting.kind !== 'event' || !isJsonObject(sighting.event.raw)) return undefined;
  const { raw, kind } = sighting.event;
  if (kind === 'message') return isJsonObject(raw.message) ? raw.message : raw;
  return kind === 'status' ? messageIn(isJsonObject(raw.statusUpdate) ? raw.statusUpdate : raw) : undefined;
}

function messageIn({ status }: { readonly status?: unknown }): unknown {
  return isJsonObject(status) ? status.message : undefined;
}
