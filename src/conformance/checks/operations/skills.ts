import { should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import { authStatus } from '../../wire/http-exchange.ts';

/** Skills of the card: section 4.4.5. */
export const skillChecks = defineChecks({ category: 'lifecycle', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'skill.examples',
    ...should('4.4.5', 'MODEL-013', 'SEND-003', '0.3/skill-examples', '0.1/skill-examples'),
    sentence: 'The agent responds to the examples of its skills with a task or a message.',
    remedy: 'Publish only examples that the agent processes, and process each of them.',
    async run(probe) {
      const responses = await probe.context.examples.load(probe);
      if (responses.length === 0)
        throw new NotApplicableError('No tested skill of the card has examples without placeholders.');
      for (const { example, response } of responses) {
        if (authStatus(response.exchange) !== undefined)
          throw new InconclusiveError('The agent rejects its examples without credentials.', {
            kind: 'credentials',
          });
        if (probe.decodeSendResult(response)) continue;
        const actual = describeResponse(response);
        probe.warn(
          `The skill ${example.skillId} does not process its example ${JSON.stringify(example.text)}`,
          {
            expected: 'a task or a message',
            actual,
            exchanges: [response.exchange],
          },
        );
      }
    },
  },
]);
