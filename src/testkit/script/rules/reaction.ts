import type { DocumentPath } from '../../../documents/schema-issues.ts';
import { sampleDuration } from '../../faults/duration.ts';
import type { Fault } from '../../faults/fault.ts';
import type { ResponsePlan, PlanStep } from '../../agent/response-plan.ts';
import { type CompiledAction, compileAction } from './compile-action.ts';
import type { CompileContext } from '../compile-context.ts';
import type { ReactionSpec } from '../schema/script-schema.ts';
import type { RuleContext } from './rule-context.ts';

type CompiledEvent = Extract<CompiledAction, { kind: 'event' }>;
type CompiledAssignment = Extract<CompiledAction, { kind: 'set' }>;

/** An event with the assignments before and after its creation. */
interface ReactionStep {
  readonly event: CompiledEvent;
  readonly before: readonly CompiledAssignment[];
  after: readonly CompiledAssignment[];
}

/** Compiled reaction of a rule: steps and faults. */
export class Reaction {
  readonly #steps: readonly (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[];
  readonly #faults: readonly Fault[];
  readonly #ending: ResponsePlan['ending'];

  constructor(spec: ReactionSpec, path: DocumentPath, context: CompileContext) {
    const { then = [], fault = [] } = spec;
    const at = [...path, 'then'];
    const actions = then.map((action, index) => compileAction(action, index, [...at, index], context));
    checkOrder(actions, at, context);
    const flat = actions.flat();
    const abandons = flat.some(({ kind }) => kind === 'abandon');
    const hasEnd = abandons || flat.some((action) => action.kind === 'event' && action.isTurnEnd);
    // A completion event ensures that every plan has an event during which the ids become known.
    if (!hasEnd) flat.push(completion);
    this.#steps = toSteps(flat);
    this.#faults = [fault].flat();
    this.#ending = abandons ? 'abandon' : 'complete';
  }

  plan(ruleContext: RuleContext, origin: string): ResponsePlan {
    const steps = this.#steps.map((step): PlanStep => {
      if ('kind' in step)
        return { kind: 'delay', milliseconds: Math.round(sampleDuration(step.duration, ruleContext.random)) };
      const { event, before, after } = step;
      return {
        kind: 'event',
        eventKind: event.eventKind,
        create: (playback) => {
          ruleContext.setPlaybackContext(playback);
          for (const { values } of before) ruleContext.setState(values);
          const created = event.create(ruleContext.scope);
          for (const { values } of after) ruleContext.setState(values);
          return created;
        },
      };
    });
    return { steps, faults: this.#faults, ending: this.#ending, origin };
  }
}

const completion: CompiledEvent = {
  kind: 'event',
  eventKind: 'status',
  create: () => ({ kind: 'status', status: { state: 'completed' } }),
  isTurnEnd: true,
};

/** Attaches assignments to the following event; assignments after the last event are attached to that one. */
function toSteps(
  actions: readonly CompiledAction[],
): (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[] {
  const steps: (ReactionStep | Extract<CompiledAction, { kind: 'wait' }>)[] = [];
  let before: CompiledAssignment[] = [];
  let last: ReactionStep | undefined;
  for (const action of actions) {
    if (action.kind === 'set') before.push(action);
    else if (action.kind === 'wait') steps.push(action);
    else if (action.kind === 'event') {
      last = { event: action, before, after: [] };
      steps.push(last);
      before = [];
    }
  }
  if (last) last.after = before;
  return steps;
}

function checkOrder(
  actions: readonly (readonly CompiledAction[])[],
  path: DocumentPath,
  context: CompileContext,
): void {
  const flat = actions.flat();
  const events = flat.filter((action) => action.kind === 'event');
  const end = actions.findIndex((each) =>
    each.some((action) => action.kind === 'abandon' || (action.kind === 'event' && action.isTurnEnd)),
  );
  for (const [index, each] of actions.entries()) {
    const at = [...path, index];
    if (end >= 0 && index > end && each.some(({ kind }) => kind !== 'set'))
      context.report(at, 'only `set` is allowed after the end; use a fault for events after the end');
    if (events.length > 1 && each.some((action) => action.kind === 'event' && action.eventKind === 'message'))
      context.report(at, 'a message is a response without a task and must be the only event');
  }
  if (events.length === 0 && flat.some(({ kind }) => kind === 'abandon'))
    for (const [index, each] of actions.entries())
      if (each.some(({ kind }) => kind === 'set'))
        context.report([...path, index], 'is never executed, because there is no event before `abandon`');
}
