/** A number with its Python type: int or float. */
interface PythonNumber {
  value: number;
  isFractional: boolean;
}

const tokenPattern = /\s+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|\*\*|\/\/|[-+*/%()]/y;

/**
 * Evaluates an arithmetic expression such as `2 * (3 + 4) ** 2` with the operators and number format of Python: `/`
 * always returns a float, `//` and `%` round down.
 *
 * @returns the result as text, or undefined if the expression is invalid.
 */
export function calculate(text: string): string | undefined {
  const tokens = tokenize(text);
  if (!tokens) return undefined;
  let position = 0;
  try {
    const { value, isFractional } = sum();
    if (position !== tokens.length) return undefined;
    return isFractional && Number.isInteger(value) ? `${value}.0` : String(value);
  } catch {
    // Invalid expression.
    return undefined;
  }

  function sum(): PythonNumber {
    let left = product();
    while (tokens?.[position] === '+' || tokens?.[position] === '-')
      left = apply(tokens[position++] ?? '', left, product());
    return left;
  }

  function product(): PythonNumber {
    let left = signed();
    while (['*', '/', '//', '%'].includes(tokens?.[position] ?? ''))
      left = apply(tokens?.[position++] ?? '', left, signed());
    return left;
  }

  function signed(): PythonNumber {
    const token = tokens?.[position];
    if (token !== '-' && token !== '+') return power();
    position++;
    const { value, isFractional } = signed();
    return { value: token === '-' ? -value : value, isFractional };
  }

  function power(): PythonNumber {
    const left = atom();
    if (tokens?.[position] !== '**') return left;
    position++;
    // Powers are right-associative, and the exponent may have a sign.
    return apply('**', left, signed());
  }

  function atom(): PythonNumber {
    const token = tokens?.[position++];
    if (token === '(') {
      const inside = sum();
      if (tokens?.[position++] !== ')') throw new SyntaxError();
      return inside;
    }
    if (token === undefined || !/^[\d.]/.test(token)) throw new SyntaxError();
    return { value: Number(token), isFractional: /[.eE]/.test(token) };
  }
}

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = [];
  const trimmed = text.trim();
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < trimmed.length) {
    const found = tokenPattern.exec(trimmed);
    if (!found) return undefined;
    const token = found[0].trim();
    if (token !== '') tokens.push(token);
  }
  return tokens;
}

function apply(operator: string, left: PythonNumber, right: PythonNumber): PythonNumber {
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
