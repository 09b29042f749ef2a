import { must } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { NotApplicableError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { TargetOutcome } from '../../prompts/prompt-catalog.ts';

/** Outcomes of fixtures that every version has. */
const commonOutcomes: readonly TargetOutcome[] = ['completed', 'artifact', 'input-required', 'failed'];
/** Outcomes of fixtures that 0.1 does not have. */
const outcomesSince0_3: readonly TargetOutcome[] = ['auth-required', 'rejected', 'message'];

/** Sends the prompt of a fixture and returns the outcome. */
async function sendFixture(probe: Probe, outcome: TargetOutcome): Promise<string> {
  const response = await probe.call('send', { message: probe.prompts.promptFor(outcome) });
  if (probe.driver.decodeMessage(response.result)) return 'message';
  const task = probe.driver.decodeTask(response.result);
  if (task?.id === undefined) return describeResponse(response);
  const { state, artifacts = [] } = await probe.waitUntilTerminalOrInterrupted(task.id);
  return outcome === 'artifact' && state === 'completed' && artifacts.length > 0 ? 'artifact' : state;
}

/** Task states: section 4.1.3. */
export const stateChecks = defineChecks({ category: 'lifecycle', versions: ['1.0', '0.3', '0.1'] }, [
  {
    id: 'state.reported',
    ...must('4.1.3', 'MODEL-003', 'INTASK-002', '0.3/states', '0.1/states'),
    sentence:
      'The agent reports the state that a task has reached: the texts of the fixtures lead to their states.',
    remedy: 'Report input-required, not completed, while a task waits for input, and failed if it fails.',
    async run(probe) {
      const isOld = probe.driver.version === '0.1';
      const outcomes = (isOld ? commonOutcomes : [...commonOutcomes, ...outcomesSince0_3]).filter((each) =>
        probe.prompts.isFixture(each),
      );
      if (outcomes.length === 0)
        throw new NotApplicableError('The outcomes of messages are certain only with fixtures.', {
          kind: 'fixtures',
        });
      for (const outcome of outcomes) {
        const actual = await sendFixture(probe, outcome);
        if (actual !== outcome)
          probe.warn(`The fixture for "${outcome}" led to "${actual}"`, { expected: outcome, actual });
      }
    },
  },
]);
