/** Tells a program what is wrong with a command line; commander has told a person already. */
export function printUsageError(words: readonly string[], message: string): void {
  const [command = ''] = words;
  const wantsJson = words.some((word, i) =>
    /^(-o|--output)$/.test(word) ? words[i + 1] === 'json' : /^(-ojson|--output=json)$/.test(word),
  );
  if (!wantsJson || !['send', 'card', 'task', 'chat', 'auth', 'config'].includes(command)) return;
  const error = {
    code: 'A2ACLI_ERR_USAGE',
    message: message.replace(/^error: /, ''),
    hint: 'Run it with --help to see what there is.',
    a2aCode: null,
  };
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}
