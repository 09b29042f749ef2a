import type { Argument, Command, Option } from 'commander';

/** A command with its completions. */
interface CommandRow {
  /** Command words without the name of the program, such as `task get`. */
  path: string;
  commands: readonly Command[];
  options: readonly Option[];
  choices: readonly string[];
  /** True if an argument may be a file. */
  takesFiles: boolean;
}

/** Names of arguments that are never files. */
const nonFileArguments = /^(urls?|text|action|parameters|\w+Id)$/;

/** Formats the completion script of a shell from the declared commands. */
export function formatCompletionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const rows = listRows(program, []);
  return { bash, zsh, fish }[shell](program.name(), rows);
}

function listRows(command: Command, path: readonly string[]): CommandRow[] {
  const commands = command.commands.filter((each) => !('_hidden' in each) || each._hidden !== true);
  return [
    {
      path: path.join(' '),
      commands,
      options: command.options.filter(({ hidden }) => !hidden),
      choices: command.registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? []),
      takesFiles: command.registeredArguments.some(
        (each: Argument) => each.argChoices === undefined && !nonFileArguments.test(each.name()),
      ),
    },
    ...commands.flatMap((each) => listRows(each, [...path, each.name()])),
  ];
}

function listWords({ commands, options, choices }: CommandRow): string[] {
  return [
    ...commands.map((each) => each.name()),
    ...choices,
    ...options.flatMap(({ long }) => long ?? []),
    '--help',
  ];
}

/** In all shells the script walks the typed words up to the last one that is a command. */
function bash(name: string, rows: readonly CommandRow[]): string {
  const func = `_${functionName(name)}`;
  const cases = rows.map((row) => `    ${quote(row.path)}) words=${quote(listWords(row).join(' '))} ;;`);
  const values = choiceCases(rows).map(
    ({ path, flag, words }) => `    ${quote(`${path}|${flag}`)}) words=${quote(words.join(' '))} ;;`,
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

function zsh(name: string, rows: readonly CommandRow[]): string {
  const func = `_${functionName(name)}`;
  const cases = rows.map(
    (row) => `    ${quote(row.path)}) offers=(${describedWords(row).map(quote).join(' ')}) ;;`,
  );
  const values = choiceCases(rows).map(
    ({ path, flag, words }) =>
      `    ${quote(`${path}|${flag}`)}) compadd -- ${words.map(quote).join(' ')}; return ;;`,
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
  _describe ${quote(name)} offers || _files
}
if [ "$funcstack[1]" = ${quote(func)} ]; then ${func} "$@"; else compdef ${func} ${name}; fi
`;
}

function fish(name: string, rows: readonly CommandRow[]): string {
  const at = `__${functionName(name)}_at`;
  const lines = rows.flatMap((row) => {
    const complete = `complete -c ${name} -n ${quote(`${at} ${row.path}`.trimEnd())}`;
    return [
      // fish offers files unless -f disables them.
      ...(row.takesFiles ? [] : [`${complete} -f`]),
      ...row.commands.map((each) => `${complete} -a ${each.name()} -d ${quote(each.description())}`),
      ...row.choices.map((choice) => `${complete} -a ${quote(choice)}`),
      ...row.options.map(({ long, short, description, argChoices, required }) => {
        const flags = `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`;
        const values = argChoices ? ` -xa ${quote(argChoices.join(' '))}` : required ? ' -rF' : '';
        return `${complete}${flags}${values} -d ${quote(description)}`;
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

/** Returns the paths of all commands, each as one word such as `task/get`. */
function knownPaths(rows: readonly CommandRow[]): string {
  return rows.flatMap(({ path }) => (path === '' ? [] : path.replaceAll(' ', '/'))).join(' ');
}

function describedWords({ commands, choices, options }: CommandRow): string[] {
  const describe = (word: string, text: string) => `${word}:${text.replaceAll(':', ' -')}`;
  return [
    ...commands.map((each) => describe(each.name(), each.description())),
    ...choices,
    ...options.flatMap(({ long, description }) => (long ? describe(long, description) : [])),
    '--help:print this help',
  ];
}

/** Returns the flags with a fixed set of values. */
function choiceCases(
  rows: readonly CommandRow[],
): { path: string; flag: string; words: readonly string[] }[] {
  return rows.flatMap(({ path, options }) =>
    options.flatMap(({ long, short, argChoices }) =>
      argChoices ? [long, short].flatMap((flag) => (flag ? [{ path, flag, words: argChoices }] : [])) : [],
    ),
  );
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
