import { Argument, type Command } from 'commander';

const examples = `
Examples:
  $ source <(dragoman completion bash)
  $ dragoman completion zsh > "\${fpath[1]}/_dragoman"
  $ dragoman completion fish > ~/.config/fish/completions/dragoman.fish`;

/** Adds `dragoman completion`. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Prints a script that completes commands and flags in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', examples)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { formatCompletionScript: completionFor } = await import('./run.ts');
      process.stdout.write(completionFor(program, shell));
    });
}
