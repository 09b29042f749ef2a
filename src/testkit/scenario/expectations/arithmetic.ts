/** A number, and whether it is written with a point even where it is whole. */
interface Figure {
  value: number;
  isFractional: boolean;
}

const tokens = /\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|\*\*|\/\/|[-+*/%()])/y;

/**
 * Works out a sum such as `2 * (3 + 4) ** 2`, with the operators and the spelling of Python: `/` always gives a number
 * with a point, `//` and `%` round down.
 *
 * @returns the result as text, or undefined when it is no sum.
 */
export function calculate(text: string): string | undefined {
  const words = wordsOf(text);
  if (!words) return undefined;
  let at = 0;
  try {
    const result = sum();
    return at === words.length ? written(result) : undefined;
  } catch {
    // Not a sum.
    return undefined;
  }

  function sum(): Figure {
    let left = product();
    while (words?.[at] === '+' || words?.[at] === '-') left = apply(words[at++] ?? '', left, product());
    return left;
  }

  function product(): Figure {
    let left = signed();
    while (['*', '/', '//', '%'].includes(words?.[at] ?? ''))
      left = apply(words?.[at++] ?? '', left, signed());
    return left;
  }

  function signed(): Figure {
    const word = words?.[at];
    if (word !== '-' && word !== '+') return power();
    at++;
    const { value, isFractional } = signed();
    return { value: word === '-' ? -value : value, isFractional };
  }

  function power(): Figure {
    const left = atom();
    if (words?.[at] !== '**') return left;
    at++;
    // Powers are worked out from the right, and the exponent may have a sign.
    return apply('**', left, signed());
  }

  function atom(): Figure {
    const word = words?.[at++];
    if (word === '(') {
      const inside = sum();
      if (words?.[at++] !== ')') throw new SyntaxError();
      return inside;
    }
    if (word === undefined || !/^[\d.]/.test(word)) throw new SyntaxError();
    return { value: Number(word), isFractional: /[.eE]/.test(word) };
  }
}

function wordsOf(text: string): string[] | undefined {
  const words: string[] = [];
  const trimmed = text.trim();
  tokens.lastIndex = 0;
  while (tokens.lastIndex < trimmed.length) {
    const found = tokens.exec(trimmed);
    if (!found) return undefined;
    words.push(found[1] ?? '');
  }
  return words;
}

function apply(operator: string, left: Figure, right: Figure): Figure {
  const a = left.value;
  const b = right.value;
  const isFractional = left.isFractional || right.isFractional;
  switch (operator) {
    case '+':
      return { value: a + b, isFractional };
    case '-':
      return { value: a - b, isFractional };
    case '*':
      return { value: a * b, isFractional };
    case '/':
      return { value: a / nonZero(b), isFractional: true };
    case '//':
      return { value: Math.floor(a / nonZero(b)), isFractional };
    case '%':
      return { value: a - b * Math.floor(a / nonZero(b)), isFractional };
    default:
      return { value: a ** b, isFractional: isFractional || b < 0 };
  }
}

function nonZero(value: number): number {
  if (value === 0) throw new RangeError();
  return value;
}

function written({ value, isFractional }: Figure): string {
  return isFractional && Number.isInteger(value) ? `${value}.0` : String(value);
}
