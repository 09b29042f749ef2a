import { invalidField } from '../../protocol/errors.ts';

/** Words that only a shell understands. */
const operators = /^(?:\|\|?|&&?|;;?|\d*(?:>>?|<<?<?)(?:&\d*-?)?)$/;

/**
 * Splits a command line into words as a POSIX shell does, without being one: quotes and backslashes count, variables,
 * patterns and pipes do not.
 *
 * @throws A2AError when a quote is not closed, when nothing is there, or when a shell would be needed.
 */
export function splitCommand(line: string): [string, ...string[]] {
  const words: string[] = [];
  /** Undefined between words; quotes make a word of nothing. */
  let word: string | undefined;
  let isPlain = true;
  const end = () => {
    if (word === undefined) return;
    if (isPlain && operators.test(word))
      throw invalidField('command', `has ${word}, but there is no shell: write sh -c '…'`);
    words.push(word);
    word = undefined;
    isPlain = true;
  };
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (/\s/.test(character)) {
      end();
    } else if (character === "'" || character === '"') {
      const { text, next } = quoted(line, at);
      word = (word ?? '') + text;
      isPlain = false;
      at = next;
    } else if (character === '\\') {
      const escaped = line.charAt(++at);
      if (escaped === '') throw invalidField('command', 'ends with a backslash');
      // A line break after a backslash is no line break.
      if (escaped !== '\n') word = (word ?? '') + escaped;
      isPlain = false;
    } else {
      word = (word ?? '') + character;
    }
  }
  end();
  const [program, ...rest] = words;
  if (program === undefined || program === '') throw invalidField('command', 'names no program');
  return [program, ...rest];
}

/** What stands between two quotes, and where the second one is. */
function quoted(line: string, from: number): { text: string; next: number } {
  const quote = line.charAt(from);
  let text = '';
  for (let at = from + 1; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === quote) return { text, next: at };
    if (quote === '"' && character === '\\' && /["\\$`\n]/.test(line.charAt(at + 1))) {
      const escaped = line.charAt(++at);
      if (escaped !== '\n') text += escaped;
    } else {
      text += character;
    }
  }
  throw invalidField('command', `has a ${quote} that is not closed`);
}
