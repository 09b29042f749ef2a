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

/** Something to do, ready to be done. */
export type CompiledAction =
  | {
      readonly kind: 'event';
      readonly make: ValueFactory<ScriptedEvent>;
      readonly of: ScriptedEvent['kind'];
      /** True when nothing is played after it. */
      readonly isEnding: boolean;
    }
  | { readonly kind: 'wait'; readonly duration: Duration }
  | {
      readonly kind: 'set';
      readonly values: readonly (readonly [name: string, make: ValueFactory<unknown>])[];
    }
  | { readonly kind: 'hang-up' };

/** The states that actions with something to say lead to. */
const states = {
  say: 'working',
  ask: 'input-required',
  authenticate: 'auth-required',
  complete: 'completed',
  fail: 'failed',
  reject: 'rejected',
  cancel: 'canceled',
} as const satisfies { readonly [action: string]: TaskState };

/**
 * Reads one thing to do; pieces of an artifact make several of it.
 *
 * @param place - where it stands in its list.
 */
export function compileAction(
  action: ActionSpec,
  place: number,
  path: DocumentPath,
  compiling: CompileContext,
): CompiledAction[] {
  const keys = Object.keys(action) as (keyof ActionSpec)[];
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    compiling.report(
      path,
      `has to be one thing to do, is ${keys.join(' and ') || 'none'}; begin each with a dash`,
    );
    return [];
  }
  const at = [...path, key];
  const speech = (): ValueFactory<Message> | undefined =>
    compileMessage(action[key] as MessageSpec, at, compiling);
  switch (key) {
    case 'wait':
      return [{ kind: 'wait', duration: action.wait ?? 0 }];
    case 'hang_up':
      return [{ kind: 'hang-up' }];
    case 'set': {
      const values = Object.entries(action.set ?? {}).map(
        ([name, value]) => [name, compileValue(value, [...at, name], compiling)] as const,
      );
      return [{ kind: 'set', values }];
    }
    case 'artifact': {
      const make = compileArtifact(action.artifact ?? {}, at, compiling, idFor(place));
      return [played('artifact', (scope) => ({ kind: 'artifact', artifact: make(scope), lastChunk: true }))];
    }
    case 'chunks':
      return chunksOf(action.chunks as Chunks, place, at, compiling);
    case 'event':
      return [wireEvent(action.event ?? {}, at, compiling)];
    case 'message': {
      const say = speech();
      if (!say) compiling.report(at, 'has to say something');
      return say ? [played('message', (scope) => ({ kind: 'message', message: say(scope) }), true)] : [];
    }
    default: {
      const say = speech();
      const state = states[key];
      const make: ValueFactory<ScriptedEvent> = (scope) => ({
        kind: 'status',
        status: { state, ...(say && { message: say(scope) }) },
      });
      return [played('status', make, key !== 'say')];
    }
  }
}

function played(
  of: ScriptedEvent['kind'],
  make: ValueFactory<ScriptedEvent>,
  isEnding = false,
): CompiledAction {
  return { kind: 'event', of, make, isEnding };
}

type Chunks = NonNullable<ActionSpec['chunks']>;

/** The id of an artifact that was given none: unlike that of any other of its task. */
function idFor(place: number): ValueFactory<string> {
  return ({ incoming }) => `artifact-${incoming.turn + 1}-${place + 1}`;
}

function chunksOf(
  form: Chunks,
  place: number,
  path: DocumentPath,
  compiling: CompileContext,
): CompiledAction[] {
  const { every, parts, ...labels } = form;
  return parts.flatMap((part, index): CompiledAction[] => {
    const isFirst = index === 0;
    const at = [...path, 'parts', index];
    const content = compileParts([part], at, compiling, () => at);
    // Only the first piece says what the artifact is; the others add to it.
    const begin = compileArtifact(
      { ...(isFirst ? labels : { id: labels.id }), parts: [''] },
      path,
      compiling,
      idFor(place),
    );
    const piece = played('artifact', (scope) => ({
      kind: 'artifact',
      artifact: { ...begin(scope), parts: content(scope) },
      append: !isFirst,
      lastChunk: index === parts.length - 1,
    }));
    return every === undefined || isFirst ? [piece] : [{ kind: 'wait', duration: every }, piece];
  });
}

/** An event in the words of the wire. What it may become is tried now, so that a mistake has a line. */
function wireEvent(
  form: { readonly [key: string]: unknown },
  path: DocumentPath,
  compiling: CompileContext,
): CompiledAction {
  const value = compileObject(form, path, compiling);
  let sample: ScriptedEvent = { kind: 'status', status: { state: 'working' } };
  try {
    sample = parseScriptedEvent(value(sampleScope()), '');
  } catch (thrown) {
    if (!(thrown instanceof A2AError)) throw thrown;
    const { field = '', description = thrown.message } = thrown.violations[0] ?? {};
    compiling.report([...path, ...(parseDataPath(field) ?? [])], description);
  }
  return {
    kind: 'event',
    of: sample.kind,
    isEnding: endsTurn(sample),
    make: (scope) => {
      try {
        return parseScriptedEvent(value(scope), 'event');
      } catch (thrown) {
        const text = `A template made something that is no event: ${(thrown as Error).message}`;
        const message: Message = { messageId: '', role: 'agent', parts: [{ text }] };
        return { kind: 'status', status: { state: 'failed', message } };
      }
    },
  };
}
