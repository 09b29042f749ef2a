import type { Message } from '../../../src/protocol/message.ts';
import type { Part } from '../../../src/protocol/part.ts';
import type {
  ReceivedMessage,
  NearMiss,
  ResponsePlan,
  ScriptedEvent,
} from '../../../src/testkit/agent/response-plan.ts';
import { openScript, type Script, type ScriptOptions } from '../../../src/testkit/script/script.ts';

/** A played step: an event, or a delay in milliseconds. */
export type PlayedStep = ScriptedEvent | { wait: number };

/** Properties of a received message other than its text. */
type MessageOverrides = Partial<Omit<ReceivedMessage, 'message' | 'text'>> & {
  parts?: Part[];
  messageId?: string;
};

/** Sends messages to a script without a server. */
export class ScriptedConversation {
  readonly script: Script;
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
  #messages = 0;
  #tasks = 0;

  constructor(script: Script) {
    this.script = script;
  }

  /** Returns the response plan of the script for a message, or its near misses. */
  decide(
    text: string,
    overrides: MessageOverrides = {},
  ): { plan?: ResponsePlan; nearMisses?: readonly NearMiss[] } {
    const { parts = [{ text }], messageId = `message-${++this.#messages}`, ...rest } = overrides;
    const message: Message = { messageId, role: 'user', parts };
    const decided = this.script.responder.decide({
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

  /** Plays the complete response of the script to a message. */
  send(text: string, overrides: MessageOverrides = {}): PlayedStep[] {
    const { plan } = this.decide(text, overrides);
    if (!plan) throw new Error('No rule matches');
    return this.play(plan, overrides.contextId);
  }

  /** Plays a plan with sequential task and context ids. */
  play(plan: ResponsePlan, contextId?: string): PlayedStep[] {
    const id = ++this.#tasks;
    const ids = { taskId: `task-${id}`, contextId: contextId ?? `context-${id}` };
    return plan.steps.map((step) => {
      if (step.kind === 'delay') {
        this.now += step.milliseconds;
        return { wait: step.milliseconds };
      }
      return 'create' in step ? step.create({ ...ids, now: this.now }) : step.event;
    });
  }

  /** Returns the text of the last event of the response. */
  lastText(text: string, overrides: MessageOverrides = {}): string {
    const last = this.send(text, overrides).at(-1);
    const message = last && 'kind' in last ? messageOf(last) : undefined;
    const [part] = message?.parts ?? [];
    return part && 'text' in part ? part.text : '';
  }

  /** Builds a message of the agent as it appears in scripted events. */
  agentMessage(text: string): Message {
    return { messageId: '', role: 'agent', parts: [{ text }] };
  }
}

function messageOf(event: ScriptedEvent): Message | undefined {
  if (event.kind === 'message') return event.message;
  return event.kind === 'artifact' ? undefined : event.status.message;
}

export function openScriptedConversation(text: string, options?: ScriptOptions): ScriptedConversation {
  return new ScriptedConversation(openScript(text, 'script.yaml', options));
}

/** Returns the diagnostics of a script, one per line. */
export function diagnosticsFor(text: string, options?: ScriptOptions): string[] {
  try {
    openScript(text, 'script.yaml', options);
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n');
  }
}
