import { A2AError } from '../../../protocol/errors.ts';
import { textOf } from '../../../protocol/part.ts';
import { withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { mutant, type MutantAgent } from '../harness/mutant-agent.ts';
import { allVersions } from '../harness/operation-mutants.ts';

const skill = (id: string, ...examples: string[]) => ({
  id,
  name: id,
  description: 'Leads a task to the requested state',
  tags: ['test'],
  examples,
});

/** Creates a mutant that rejects one of the examples of its skills. */
function rejectsExample(id: string, description: string, rejected: string): MutantAgent {
  return mutant(id, description, {
    versions: allVersions,
    definition: {
      skills: [skill('first', 'fx:complete', 'fx:complete again'), skill('second', 'fx:complete otherwise')],
    },
    agent: (agent) =>
      withInterceptor(agent, {
        send: async (request, call) => {
          if (textOf(request.message.parts) === rejected)
            throw new A2AError('INVALID_PARAMS', 'Not understood');
          return agent.send(request, call);
        },
      }),
  });
}

/** Mutants of skills. */
export const skillMutants: readonly MutantAgent[] = [
  rejectsExample('skill.examples:second-example', 'The second example is rejected.', 'fx:complete again'),
  rejectsExample('skill.examples:second-skill', 'The second skill is rejected.', 'fx:complete otherwise'),
];
