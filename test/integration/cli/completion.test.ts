import { completeInBash } from '../../support/cli/shell-completion.ts';
import { describeCompletion } from './completion.ts';

describeCompletion('bash', 'bash', completeInBash);
