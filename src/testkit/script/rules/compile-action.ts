import type { DocumentPath } from '../../../documents/schema-issues.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Message } from '../../../protocol/message.ts';
import type { TaskState } from '../../../protocol/task.ts';
import type { Duration } from '../../faults/fault.ts';
import type { ScriptedEvent } from '../../agent/response-plan.ts';
import { endsTurn } from '../../playback/ends-turn.ts';
import { parseScriptedEvent } from '../../playback/parse-scripted-event.ts';
import type { ActionSpec, MessageSpec } from '../schema/action-schema.ts';
import { type CompileContext, type ValueFactory, compileObject, compileValue } from '../compile-context.ts';
import { compileArtifact, compileParts, compileMessage } from './compile-parts.ts';
import { parseDataPath } from '../templates/data-path.ts';
import { sampleScope } from '../templates/sample-scope.ts';

/** A compiled action of a rule. */
export type CompiledAction =
  | {
      readonly kind: 'event';
      readonly create: ValueFactory<ScriptedEvent>;
      readonly eventKind: ScriptedEvent['kind'];
      /** True if the event ends the turn. */
      readonly isTurnEnd: boolean;
    }
  | { readonly kind: 'wait'; readonly duration: Duration }
  | {
      readonly kind: 'set';
      readonly values: readonly (readonly [name: string, create: ValueFactory<unknown>])[];
    }
  | { readonly kind: 'abandon' };

/** Task states of actions that send a status. */
const actionStates = {
  say: 'working',
  ask: 'input-required',
  authenticate: 'auth-required',
  complete: 'completed',
  fail: 'failed',
  reject: 'rejected',
  cancel: 'canceled',
} as const satisfies { readonly [action: string]: TaskState };

/**
 * Compiles an action. The action `chunks` results in several compiled actions.
 *
 * @param index - position of the action in its list.
 */
export function compileAction(
  action: ActionSpec,
  index: number,
  path: DocumentPath,
  context: CompileContext,
): CompiledAction[] {
  const keys = Object.keys(action) as (keyof ActionSpec)[];
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    context.report(
      path,
      `must be exactly one action, is ${keys.join(' and ') || 'none'}; start each action with a dash`,
    );
    return [];
  }
  const at = [...path, key];
  const compileSpecMessage = (): ValueFactory<Message> | undefined =>
    compileMessage(action[key] as MessageSpec, at, context);
  switch (key) {
    case 'wait':
      return [{ kind: 'wait', duration: action.wait ?? 0 }];
    case 'abandon':
      return [{ kind: 'abandon' }];
    case 'set': {
      const values = Object.entries(action.set ?? {}).map(
        ([name, value]) => [name, compileValue(value, [...at, name], context)] as const,
      );
      return [{ kind: 'set', values }];
    }
    case 'artifact': {
      const create = compileArtifact(action.artifact ?? {}, at, context, defaultArtifactId(index));
      return [
        eventAction('artifact', (scope) => ({ kind: 'artifact', artifact: create(scope), lastChunk: true })),
      ];
    }
    case 'chunks':
      return compileChunks(action.chunks as Chunks, index, at, context);
    case 'event':
      return [compileEvent(action.event ?? {}, at, context)];
    case 'message': {
      const createMessage = compileSpecMessage();
      if (!createMessage) context.report(at, 'must not be empty');
      return createMessage
        ? [eventAction('message', (scope) => ({ kind: 'message', message: createMessage(scope) }), true)]
        : [];
    }
    default: {
      const createMessage = compileSpecMessage();
      const state = actionStates[key];
      const create: ValueFactory<ScriptedEvent> = (scope) => ({
        kind: 'status',
        status: { state, ...(createMessage && { message: createMessage(scope) }) },
      });
      return [eventAction('status', create, key !== 'say')];
    }
  }
}

function eventAction(
  eventKind: ScriptedEvent['kind'],
  create: ValueFactory<ScriptedEvent>,
  isTurnEnd = false,
): CompiledAction {
  return { kind: 'event', eventKind, create, isTurnEnd };
}

type Chunks = NonNullable<ActionSpec['chunks']>;

/** Returns an artifact id that is unique in its task. */
function defaultArtifactId(index: number): ValueFactory<string> {
  return ({ received }) => `artifact-${received.turn + 1}-${index + 1}`;
}

function compileChunks(
  spec: Chunks,
  actionIndex: number,
  path: DocumentPath,
  context: CompileContext,
): CompiledAction[] {
  const { every, parts, ...labels } = spec;
  return parts.flatMap((part, index): CompiledAction[] => {
    const isFirst = index === 0;
    const at = [...path, 'parts', index];
    const content = compileParts([part], at, context, () => at);
    // Only the first chunk has name, description and metadata.
    const createArtifact = compileArtifact(
      { ...(isFirst ? labels : { id: labels.id }), parts: [''] },
      path,
      context,
      defaultArtifactId(actionIndex),
    );
    const chunk = eventAction('artifact', (scope) => ({
      kind: 'artifact',
      artifact: { ...createArtifact(scope), parts: content(scope) },
      append: !isFirst,
      lastChunk: index === parts.length - 1,
    }));
    return every === undefined || isFirst ? [chunk] : [{ kind: 'wait', duration: every }, chunk];
  });
}

/** Compiles an event in wire format. It is parsed with sample values, so that errors are reported with their line. */
function compileEvent(
  spec: { readonly [key: string]: unknown },
  path: DocumentPath,
  context: CompileContext,
): CompiledAction {
  const value = compileObject(spec, path, context);
  let sample: ScriptedEvent = { kind: 'status', status: { state: 'working' } };
  try {
    sample = parseScriptedEvent(value(sampleScope()), '');
  } catch (thrown) {
    if (!(thrown instanceof A2AError)) throw thrown;
    const { field = '', description = thrown.message } = thrown.violations[0] ?? {};
    context.report([...path, ...(parseDataPath(field) ?? [])], description);
  }
  return {
    kind: 'event',
    eventKind: sample.kind,
    isTurnEnd: endsTurn(sample),
    create: (scope) => {
      try {
        return parseScriptedEvent(value(scope), 'event');
      } catch (thrown) {
        const text = `A template rendered an invalid event: ${(thrown as Error).message}`;
        const message: Message = { messageId: '', role: 'agent', parts: [{ text }] };
        return { kind: 'status', status: { state: 'failed', message } };
      }
    },
  };
}
