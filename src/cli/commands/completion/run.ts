import type { Argument, Command, Option } from 'commander';

/** One command, and what may follow it. */
interface Row {
  /** The words that lead to it, without the name of the program. */
  path: string;
  commands: readonly Command[];
  options: readonly Option[];
  choices: readonly string[];
  /** An argument of it may be a file. */
  takesFiles: boolean;
}

/** The names of arguments that are never files. */
const noFile = /^(urls?|text|action|parameters|\w+Id)$/;

/** Writes the completion script of a shell, out of the commands there are. */
export function formatCompletionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
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
      takesFiles: command.registeredArguments.some(
        (each: Argument) => each.argChoices === undefined && !noFile.test(each.name()),
      ),
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

/** All shells walk the words that were typed, and stop at the last one that is a command. */
function bash(name: string, rows: readonly Row[]): string {
  const func = `_${functionName(name)}`;
  const cases = rows.map((row) => `    ${quoted(row.path)}) words=${quoted(wordsOf(row).join(' '))} ;;`);
  const values = choiceCases(rows).map(
    ({ path, flag, words }) => `    ${quoted(`${path}|${flag}`)}) words=${quoted(words.join(' '))} ;;`,
  );
  return `# bash completion for ${name}
${func}() {
  local word path='' words='' known=' ${knownPaths(rows)} '
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
  const func = `_${functionName(name)}`;
  const cases = rows.map(
    (row) => `    ${quoted(row.path)}) offers=(${describedWords(row).map(quoted).join(' ')}) ;;`,
  );
  const values = choiceCases(rows).map(
    ({ path, flag, words }) =>
      `    ${quoted(`${path}|${flag}`)}) compadd -- ${words.map(quoted).join(' ')}; return ;;`,
  );
  return `#compdef ${name}
${func}() {
  local word at='' known=' ${knownPaths(rows)} '
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
  const at = `__${functionName(name)}_at`;
  const lines = rows.flatMap((row) => {
    const complete = `complete -c ${name} -n ${quoted(`${at} ${row.path}`.trimEnd())}`;
    return [
      // Files are offered unless it is said that they are not.
      ...(row.takesFiles ? [] : [`${complete} -f`]),
      ...row.commands.map((each) => `${complete} -a ${each.name()} -d ${quoted(each.description())}`),
      ...row.choices.map((choice) => `${complete} -a ${quoted(choice)}`),
      ...row.options.map(({ long, short, description, argChoices, required }) => {
        const flags = `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`;
        const values = argChoices ? ` -xa ${quoted(argChoices.join(' '))}` : required ? ' -rF' : '';
        return `${complete}${flags}${values} -d ${quoted(description)}`;
      }),
    ];
  });
  return `# fish completion for ${name}
function ${at}
  set -l known ${knownPaths(rows)}
  set -l path
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- / $path $word) $known
      set path $path $word
    end
  end
  test "$path" = "$argv"
end
complete -c ${name} -s h -l help -d 'print this help'
${lines.join('\n')}
`;
}

function functionName(name: string): string {
  return name.replaceAll(/\W/g, '_');
}

/** The ways to commands, each as one word such as `task/get`. */
function knownPaths(rows: readonly Row[]): string {
  return rows.flatMap(({ path }) => (path === '' ? [] : path.replaceAll(' ', '/'))).join(' ');
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
