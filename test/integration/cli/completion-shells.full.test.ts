import { completeInFish, completeInZsh } from '../../support/cli/shell-completion.ts';
import { describeCompletion } from './completion.ts';

describeCompletion('zsh in fpath', 'zsh', completeInZsh('fpath'));
describeCompletion('zsh sourced', 'zsh', completeInZsh('source'));
describeCompletion('fish', 'fish', completeInFish);
