import type { Advise } from '../../conformance/prompts/missing-input.ts';

/** Names the fields of the conformance view. */
export const adviseForPage: Advise = (missing) => {
  switch (missing.kind) {
    case 'prompt':
      return `Enter a message that leads to it under Messages, ${missing.outcome}.`;
    case 'fixtures':
      return 'Select a fixture agent under Prompts if the agent is one.';
    case 'credentials':
      return 'Enter the credentials in the view Agents: add the agent again with them.';
    case 'other-user':
      return 'Enter the header of another user under More options.';
    case 'restricted-user':
      return 'Enter the header of such a user under More options.';
    case 'timeout':
      return 'Enter a longer timeout per task.';
    case 'max-time':
      return 'Enter a longer time limit under More options.';
    case 'max-messages':
      return 'Enter a higher number of messages under More options.';
    case 'webhook-url':
      return 'Let the agent accept them for the test, or enter a webhook URL that it can reach under More options.';
  }
};
