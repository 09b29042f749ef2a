import { truncate } from '../../primitives/text.ts';
import type { Action } from '../action-types.ts';

/** Maximum length of a description, in characters. */
const maxLength = 4_000;

/** Returns the description of an action, followed by its examples. */
export function descriptionWithExamples({ description, examples }: Action): string {
  return examples.length === 0 ? description : [`${description}\n\nExamples:`, ...examples].join('\n- ');
}

/**
 * Describes actions in one sentence: the names of the agents and of the actions.
 *
 * @param kind - what the actions are called.
 * @param names - names of the actions, if they differ.
 */
export function describeActions(
  actions: readonly Action[],
  kind = 'Actions',
  names: readonly string[] = actions.map(({ name }) => name),
): string {
  const agents = [...new Set(actions.map(({ agentName }) => agentName).filter((name) => name !== ''))];
  const from = agents.length === 0 ? 'no agent yet' : agents.join(', ');
  return truncate(`${kind} from the skills of ${from}: ${names.join(', ')}.`, maxLength);
}
