import { mutant, type MutantAgent } from '../harness/mutant-agent.ts';
import { mutateEvery } from '../harness/mutations.ts';
import { allVersions } from '../harness/operation-mutants.ts';

/** Creates a mutant that reports another state, in the names of all versions. */
function reportsAs(id: string, description: string, from: string, to: string): MutantAgent {
  const wireName = (state: string): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;
  const names: Readonly<Record<string, string>> = { [from]: to, [wireName(from)]: wireName(to) };
  return mutant(id, description, {
    versions: allVersions,
    wire: () =>
      mutateEvery('status', (status) => {
        status.state = names[String(status.state)] ?? status.state;
      }),
  });
}

/** Mutants of task states. */
export const stateMutants: readonly MutantAgent[] = [
  reportsAs('state.reported:input', 'A task that needs input is completed.', 'input-required', 'completed'),
  reportsAs('state.reported:failed', 'A failed task is completed.', 'failed', 'completed'),
];
