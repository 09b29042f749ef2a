import type { Message } from '../../../src/protocol/message.ts';
import type { Part } from '../../../src/protocol/part.ts';
import type {
  ReceivedMessage,
  NearMiss,
  ResponsePlan,
  ScriptedEvent,
} from '../../../src/testkit/agent/response-plan.ts';
import { openScript, type Script, type ScriptOptions } from '../../../src/testkit/script/script.ts';

/** What a script did: events, and waits in milliseconds. */
export type PlayedStep = ScriptedEvent | { wait: number };

/** What is said of a message beside its text. */
type Around = Partial<Omit<ReceivedMessage, 'message' | 'text'>> & { parts?: Part[]; messageId?: string };

/** A conversation with a script, without a server between. */
export class ScriptedConversation {
  readonly script: Script;
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
  #messages = 0;
  #tasks = 0;

  constructor(script: Script) {
    this.script = script;
  }

  /** What the script makes of a message. */
  decide(text: string, around: Around = {}): { plan?: ResponsePlan; nearMisses?: readonly NearMiss[] } {
    const { parts = [{ text }], messageId = `message-${++this.#messages}`, ...rest } = around;
    const message: Message = { messageId, role: 'user', parts };
    const decided = this.script.director.decide({
      operation: 'send',
      message,
      text,
      metadata: undefined,
      skill: undefined,
      version: '1.0',
      transport: 'JSONRPC',
      headers: {},
      principal: undefined,
      task: undefined,
      contextId: undefined,
      turn: 0,
      ...rest,
    });
    if (!decided) return {};
    return 'steps' in decided ? { plan: decided } : { nearMisses: decided.nearMisses };
  }

  /** Plays what the script makes of a message, to the end. */
  send(text: string, around: Around = {}): PlayedStep[] {
    const { plan } = this.decide(text, around);
    if (!plan) throw new Error('No rule matches');
    return this.play(plan, around.contextId);
  }

  /** Plays a plan; ids are counted. */
  play(plan: ResponsePlan, contextId?: string): PlayedStep[] {
    const id = ++this.#tasks;
    const ids = { taskId: `task-${id}`, contextId: contextId ?? `context-${id}` };
    return plan.steps.map((step) => {
      if (step.kind === 'delay') {
        this.now += step.milliseconds;
        return { wait: step.milliseconds };
      }
      return 'make' in step ? step.make({ ...ids, now: this.now }) : step.event;
    });
  }

  /** The last words of the answer. */
  lastWords(text: string, around: Around = {}): string {
    const last = this.send(text, around).at(-1);
    const said = last && 'kind' in last ? wordsOf(last) : undefined;
    const [part] = said?.parts ?? [];
    return part && 'text' in part ? part.text : '';
  }

  /** Words of the agent, as an event has them. */
  says(text: string): Message {
    return { messageId: '', role: 'agent', parts: [{ text }] };
  }
}

function wordsOf(event: ScriptedEvent): Message | undefined {
  if (event.kind === 'message') return event.message;
  return event.kind === 'artifact' ? undefined : event.status.message;
}

/** Opens a script to talk with. */
export function openScriptedConversation(text: string, options?: ScriptOptions): ScriptedConversation {
  return new ScriptedConversation(openScript(text, 'script.yaml', options));
}

/** The complaints about a script, as they are told. */
export function diagnosticsFor(text: string, options?: ScriptOptions): string[] {
  try {
    openScript(text, 'script.yaml', options);
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n');
  }
}
