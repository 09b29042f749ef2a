import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSystemProgram } from '../process/system-program.ts';

/** Returns the completions that a shell with our script offers for each line in a folder. */
export type CompletionProbe = (script: string, lines: readonly string[], folder: string) => string[][];

/** Calls the completion function of bash. File names that readline adds are not included. */
export const completeInBash: CompletionProbe = (script, lines, folder) =>
  lines.map((line) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const command = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _dragoman; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return nonEmptyLines(run('bash', ['--norc', '-c', `${script}\n${command}`], folder));
  });

/** Calls the completion of fish. */
export const completeInFish: CompletionProbe = (script, lines, folder) => {
  writeFileSync(join(folder, '.dragoman.fish'), script);
  const command = 'source .dragoman.fish; for line in $argv; complete -C $line; echo =; end';
  const output = run('fish', ['--no-config', '-c', command, ...lines], folder);
  return output
    .split(/^=\n/m)
    .slice(0, lines.length)
    .map((each) => nonEmptyLines(each.replaceAll(/\t.*$/gm, '')));
};

/**
 * Startup file of an interactive zsh. It records the completions and prints `<ready>` when the shell accepts input;
 * `^X` ends a line.
 */
const zshrc = (load: string) => `
PROMPT= RPROMPT= ZLE_RPROMPT_INDENT=0
unset zle_bracketed_paste
${load}
zstyle ':completion:*' list-max 10000
LISTMAX=10000
compadd() {
  if [[ " $* " != *' -'[OAD]' '* ]]; then
    local -a hits
    builtin compadd -O hits "$@"
    print -rl -- $hits >> $OFFERS
  fi
  builtin compadd "$@"
}
ready() { print '<ready>' > /dev/tty }
next-line() { print -r -- = >> $OFFERS; BUFFER=''; ready }
zle -N zle-line-init ready
zle -N next-line
bindkey '^I' list-choices '^X' next-line
`;

/** Types lines into a zsh at a terminal, and presses Tab. */
const zshDriver = String.raw`
zmodload zsh/zpty
zpty shell zsh -i
zpty -r -m shell output '*<ready>*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r -m shell output '*<ready>*'
done
zpty -d shell
`;

/** Completes in an interactive zsh that loads the script from `fpath` or with `source`. */
export const completeInZsh =
  (loading: 'fpath' | 'source'): CompletionProbe =>
  (script, lines, folder) => {
    const home = join(folder, `.zsh-${loading}`);
    const file = join(home, '_dragoman');
    const offers = join(home, 'offers');
    mkdirSync(home);
    writeFileSync(file, script);
    writeFileSync(offers, '');
    const start = 'autoload -Uz compinit; compinit -u -D';
    const load = loading === 'fpath' ? `fpath=(${home} $fpath); ${start}` : `${start}; source ${file}`;
    writeFileSync(join(home, '.zshrc'), zshrc(load));
    run('zsh', ['-f', '-c', zshDriver, 'zsh', ...lines], folder, { ZDOTDIR: home, OFFERS: offers });
    return run('cat', [offers], folder).split(/^=\n/m).slice(0, lines.length).map(nonEmptyLines);
  };

/** Returns true if a shell is installed; otherwise prints why its tests are skipped. */
export function hasShell(shell: string): boolean {
  const found = findSystemProgram(shell) !== undefined;
  if (!found) console.log(`skipped: ${shell} is not installed`);
  return found;
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): string {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, HOME: cwd, TERM: 'vt100', ...env },
  });
}

function nonEmptyLines(text: string): string[] {
  return text.split('\n').filter((each) => each !== '');
}
