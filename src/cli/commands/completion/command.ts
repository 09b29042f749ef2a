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
    .description('Print a shell completion script.')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', examples)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { formatCompletionScript } = await import('./run.ts');
      process.stdout.write(formatCompletionScript(program, shell));
    });
}
