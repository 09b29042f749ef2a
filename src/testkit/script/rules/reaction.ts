import type { DocumentPath } from '../../../documents/schema-issues.ts';
import { drawDuration } from '../../faults/duration.ts';
import type { Fault } from '../../faults/fault.ts';
import type { ResponsePlan, PlanStep } from '../../agent/response-plan.ts';
import { type CompiledAction, compileAction } from './compile-action.ts';
import type { CompileContext } from '../compile-context.ts';
import type { ReactionSpec } from '../schema/script-schema.ts';
import type { RuleContext } from './rule-context.ts';

type CompiledEvent = Extract<CompiledAction, { kind: 'event' }>;
type CompiledAssignment = Extract<CompiledAction, { kind: 'set' }>;

/** An event with what is remembered before and after it is made. */
interface ReactionStep {
  readonly event: CompiledEvent;
  readonly before: readonly CompiledAssignment[];
  after: readonly CompiledAssignment[];
}

/** What is done about a message, ready to be done. */
export class Reaction {
  readonly #beats: readonly (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[];
  readonly #faults: readonly Fault[];
  readonly #ending: ResponsePlan['ending'];

  constructor(form: ReactionSpec, path: DocumentPath, compiling: CompileContext) {
    const { then = [], fault = [] } = form;
    const at = [...path, 'then'];
    const deeds = then.map((action, index) => compileAction(action, index, [...at, index], compiling));
    complainAboutOrder(deeds, at, compiling);
    const flat = deeds.flat();
    const hangsUp = flat.some(({ kind }) => kind === 'hang-up');
    const isOver = hangsUp || flat.some((deed) => deed.kind === 'event' && deed.isEnding);
    // The end is an event of its own, so that there is always one by which the ids become known.
    if (!isOver) flat.push(completion);
    this.#beats = beatsOf(flat);
    this.#faults = [fault].flat();
    this.#ending = hangsUp ? 'hang-up' : 'complete';
  }

  plan(visit: RuleContext, origin: string): ResponsePlan {
    const steps = this.#beats.map((beat): PlanStep => {
      if ('kind' in beat)
        return { kind: 'delay', milliseconds: Math.round(drawDuration(beat.duration, visit.random)) };
      const { event, before, after } = beat;
      return {
        kind: 'event',
        of: event.of,
        make: (moment) => {
          visit.setPlaybackContext(moment);
          for (const { values } of before) visit.remember(values);
          const made = event.make(visit.scope);
          for (const { values } of after) visit.remember(values);
          return made;
        },
      };
    });
    return { steps, faults: this.#faults, ending: this.#ending, origin };
  }
}

const completion: CompiledEvent = {
  kind: 'event',
  of: 'status',
  make: () => ({ kind: 'status', status: { state: 'completed' } }),
  isEnding: true,
};

/** Puts what is remembered to the event that follows; what comes after the last event belongs to that one. */
function beatsOf(
  deeds: readonly CompiledAction[],
): (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[] {
  const beats: (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[] = [];
  let before: CompiledAssignment[] = [];
  let last: ReactionStep | undefined;
  for (const deed of deeds) {
    if (deed.kind === 'set') before.push(deed);
    else if (deed.kind === 'wait') beats.push(deed);
    else if (deed.kind === 'event') {
      last = { event: deed, before, after: [] };
      beats.push(last);
      before = [];
    }
  }
  if (last) last.after = before;
  return beats;
}

function complainAboutOrder(
  deeds: readonly (readonly CompiledAction[])[],
  path: DocumentPath,
  compiling: CompileContext,
): void {
  const flat = deeds.flat();
  const events = flat.filter((deed) => deed.kind === 'event');
  const over = deeds.findIndex((each) =>
    each.some((deed) => deed.kind === 'hang-up' || (deed.kind === 'event' && deed.isEnding)),
  );
  for (const [index, each] of deeds.entries()) {
    const at = [...path, index];
    if (over >= 0 && index > over && each.some(({ kind }) => kind !== 'set'))
      compiling.report(at, 'comes after the end; only `set` may (a fault makes events after the end)');
    if (events.length > 1 && each.some((deed) => deed.kind === 'event' && deed.of === 'message'))
      compiling.report(at, 'a message is an answer without a task, so no other event can stand beside it');
  }
  if (events.length === 0 && flat.some(({ kind }) => kind === 'hang-up'))
    for (const [index, each] of deeds.entries())
      if (each.some(({ kind }) => kind === 'set'))
        compiling.report([...path, index], 'is never done, because nothing is said before hanging up');
}
