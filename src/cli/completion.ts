import type { Argument, Command, Option } from 'commander';

/** One command, and what may follow it. */
interface Row {
  /** The words that lead to it, without the name of the program. */
  path: string;
  commands: readonly Command[];
  options: readonly Option[];
  choices: readonly string[];
}

/** Writes the completion script of a shell, out of the commands there are. */
export function completionFor(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const rows = rowsOf(program, []);
  return { bash, zsh, fish }[shell](program.name(), rows);
}

function rowsOf(command: Command, path: readonly string[]): Row[] {
  const commands = command.commands.filter((each) => !isHidden(each));
  return [
    {
      path: path.join(' '),
      commands,
      options: command.options.filter(({ hidden }) => !hidden),
      choices: command.registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? []),
    },
    ...commands.flatMap((each) => rowsOf(each, [...path, each.name()])),
  ];
}

function isHidden(command: Command): boolean {
  return '_hidden' in command && command._hidden === true;
}

function wordsOf({ commands, options, choices }: Row): string[] {
  return [
    ...commands.map((each) => each.name()),
    ...choices,
    ...options.flatMap(({ long }) => long ?? []),
    '--help',
  ];
}

/** Both shells walk the words that were typed, and stop at the last one that is a command. */
function bash(name: string, rows: readonly Row[]): string {
  const func = `_${name.replaceAll(/\W/g, '_')}`;
  const cases = rows.map((row) => `    ${quoted(row.path)}) words=${quoted(wordsOf(row).join(' '))} ;;`);
  const values = choiceCases(rows).map(
    ({ path, flag, words }) => `    ${quoted(`${path}|${flag}`)}) words=${quoted(words.join(' '))} ;;`,
  );
  return `# bash completion for ${name}
${func}() {
  local word path='' words='' known=' ${rows.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$known" in *" \${path:+\${path// //}/}$word "*) path="\${path:+$path }$word" ;; esac
  done
  case "$path|$previous" in
${values.join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$path" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${func} ${name}
`;
}

function zsh(name: string, rows: readonly Row[]): string {
  const func = `_${name.replaceAll(/\W/g, '_')}`;
  const cases = rows.map(
    (row) => `    ${quoted(row.path)}) offers=(${describedWords(row).map(quoted).join(' ')}) ;;`,
  );
  const values = choiceCases(rows).map(
    ({ path, flag, words }) =>
      `    ${quoted(`${path}|${flag}`)}) compadd -- ${words.map(quoted).join(' ')}; return ;;`,
  );
  return `#compdef ${name}
${func}() {
  local word at='' known=' ${rows.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} '
  local -a words_given offers
  words_given=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words_given[-1]}"
  for word in $words_given; do
    [[ $known == *" \${at:+\${at// //}/}$word "* ]] && at="\${at:+$at }$word"
  done
  case "$at|$previous" in
${values.join('\n')}
  esac
  case "$at" in
${cases.join('\n')}
  esac
  _describe ${quoted(name)} offers || _files
}
if [ "$funcstack[1]" = ${quoted(func)} ]; then ${func} "$@"; else compdef ${func} ${name}; fi
`;
}

function fish(name: string, rows: readonly Row[]): string {
  const lines = [`# fish completion for ${name}`, `complete -c ${name} -f`];
  for (const row of rows) {
    const words = row.path === '' ? [] : row.path.split(' ');
    const isHere = [
      ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(row.commands.length === 0
        ? []
        : [`not __fish_seen_subcommand_from ${row.commands.map((each) => each.name()).join(' ')}`]),
    ].join('; and ');
    const when = isHere === '' ? '' : ` -n ${quoted(isHere)}`;
    for (const each of row.commands)
      lines.push(`complete -c ${name}${when} -a ${each.name()} -d ${quoted(each.description())}`);
    for (const choice of row.choices) lines.push(`complete -c ${name}${when} -a ${quoted(choice)}`);
    for (const { long, short, description, argChoices, required } of row.options) {
      const flags = `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`;
      const values = argChoices ? ` -xa ${quoted(argChoices.join(' '))}` : required ? ' -rF' : '';
      lines.push(`complete -c ${name}${when}${flags}${values} -d ${quoted(description)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function describedWords({ commands, choices, options }: Row): string[] {
  const told = (word: string, what: string) => `${word}:${what.replaceAll(':', ' -')}`;
  return [
    ...commands.map((each) => told(each.name(), each.description())),
    ...choices,
    ...options.flatMap(({ long, description }) => (long ? told(long, description) : [])),
    '--help:print this help',
  ];
}

/** The flags whose values are known. */
function choiceCases(rows: readonly Row[]): { path: string; flag: string; words: readonly string[] }[] {
  return rows.flatMap(({ path, options }) =>
    options.flatMap(({ long, short, argChoices }) =>
      argChoices ? [long, short].flatMap((flag) => (flag ? [{ path, flag, words: argChoices }] : [])) : [],
    ),
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
