import { invalidField } from '../../protocol/errors.ts';

const shellOperators = /^(?:\|\|?|&&?|;;?|\d*(?:>>?|<<?<?)(?:&\d*-?)?)$/;

/**
 * Splits a command line into words like a POSIX shell. Supports quotes and backslashes, but no variables, patterns or
 * pipes.
 *
 * @throws A2AError if a quote is not closed, the command is empty or contains shell operators.
 */
export function splitCommand(line: string): [string, ...string[]] {
  const words: string[] = [];
  /** Undefined between words; an empty pair of quotes is an empty word. */
  let word: string | undefined;
  let isPlain = true;
  const end = () => {
    if (word === undefined) return;
    if (isPlain && shellOperators.test(word))
      throw invalidField('command', `must not contain ${word}, because no shell is used: write sh -c '…'`);
    words.push(word);
    word = undefined;
    isPlain = true;
  };
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (/\s/.test(character)) {
      end();
    } else if (character === "'" || character === '"') {
      const { text, next } = readQuoted(line, index);
      word = (word ?? '') + text;
      isPlain = false;
      index = next;
    } else if (character === '\\') {
      const escaped = line.charAt(++index);
      if (escaped === '') throw invalidField('command', 'must not end with a backslash');
      // A backslash before a line break continues the line.
      if (escaped !== '\n') word = (word ?? '') + escaped;
      isPlain = false;
    } else {
      word = (word ?? '') + character;
    }
  }
  end();
  return checkProgram(words);
}

/** Returns the words of a command. @throws A2AError if they name no program. */
export function checkProgram([program, ...rest]: readonly string[]): [string, ...string[]] {
  if (program === undefined || program === '') throw invalidField('command', 'must name a program');
  return [program, ...rest];
}

/** Reads a quoted text. `next` is the index of the closing quote. */
function readQuoted(line: string, from: number): { text: string; next: number } {
  const quote = line.charAt(from);
  let text = '';
  for (let index = from + 1; index < line.length; index++) {
    const character = line.charAt(index);
    if (character === quote) return { text, next: index };
    if (quote === '"' && character === '\\' && /["\\$`\n]/.test(line.charAt(index + 1))) {
      const escaped = line.charAt(++index);
      if (escaped !== '\n') text += escaped;
    } else {
      text += character;
    }
  }
  throw invalidField('command', `must not contain an unclosed ${quote}`);
}
