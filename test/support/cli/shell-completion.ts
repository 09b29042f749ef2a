import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSystemProgram } from '../process/system-program.ts';

/** What a shell offers for each of some lines, in a folder, once it has taken a script of ours in. */
export type CompletionProbe = (script: string, lines: readonly string[], folder: string) => string[][];

/** Asks bash, as its completion asks a function. What readline would add, such as files, is not seen. */
export const completeInBash: CompletionProbe = (script, lines, folder) =>
  lines.map((line) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _dragoman; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return offersIn(run('bash', ['--norc', '-c', `${script}\n${asked}`], folder));
  });

/** Asks fish for what it would show. */
export const completeInFish: CompletionProbe = (script, lines, folder) => {
  writeFileSync(join(folder, '.dragoman.fish'), script);
  const asked = 'source .dragoman.fish; for line in $argv; complete -C $line; echo =; end';
  const told = run('fish', ['--no-config', '-c', asked, ...lines], folder);
  return told
    .split(/^=\n/m)
    .slice(0, lines.length)
    .map((each) => offersIn(each.replaceAll(/\t.*$/gm, '')));
};

/**
 * What a zsh at a terminal reads first. It notes what is offered, and tells the terminal when it can be written to;
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
zpty -r -m shell told '*<ready>*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r -m shell told '*<ready>*'
done
zpty -d shell
`;

/** Asks a zsh at a terminal, either with the script among its functions or after it was sourced. */
export const completeInZsh =
  (way: 'fpath' | 'source'): CompletionProbe =>
  (script, lines, folder) => {
    const home = join(folder, `.zsh-${way}`);
    const file = join(home, '_dragoman');
    const offers = join(home, 'offers');
    mkdirSync(home);
    writeFileSync(file, script);
    writeFileSync(offers, '');
    const start = 'autoload -Uz compinit; compinit -u -D';
    const load = way === 'fpath' ? `fpath=(${home} $fpath); ${start}` : `${start}; source ${file}`;
    writeFileSync(join(home, '.zshrc'), zshrc(load));
    run('zsh', ['-f', '-c', zshDriver, 'zsh', ...lines], folder, { ZDOTDIR: home, OFFERS: offers });
    return run('cat', [offers], folder).split(/^=\n/m).slice(0, lines.length).map(offersIn);
  };

/** Whether a shell is here; prints why tests that need it are skipped where it is not. */
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

function offersIn(text: string): string[] {
  return text.split('\n').filter((each) => each !== '');
}
