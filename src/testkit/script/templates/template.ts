import { findFilter } from './filters.ts';
import { resolveVariable } from './variables.ts';
import type { TemplateScope } from './template-scope.ts';
import { truncateText, valueToText } from './text-format.ts';

/** Takes a complaint about what stands between the braces. */
type Complain = (message: string) => void;

/** Something that gives a value when its turn has come. */
type Expression = (scope: TemplateScope) => unknown;

/** A text with places to be filled in. */
export class Template {
  /** Texts and expressions in turns: `pieces[1]` is an expression. */
  readonly #pieces: readonly (string | Expression)[];

  private constructor(pieces: readonly (string | Expression)[]) {
    this.#pieces = pieces;
  }

  /**
   * Reads a template. Everything that is wrong is complained about now, so that nothing can be while it is filled in.
   *
   * @param hasMatch - whether there is a regular expression for `match` to speak of.
   */
  static parse(text: string, hasMatch: boolean, complain: Complain): Template {
    const pieces: (string | Expression)[] = [];
    let at = 0;
    for (const found of text.matchAll(/\{\{((?:"[^"]*"|'[^']*'|[^}"'])*)\}\}/g)) {
      pieces.push(text.slice(at, found.index));
      pieces.push(expressionOf(found[1] ?? '', hasMatch, complain));
      at = found.index + found[0].length;
    }
    const rest = text.slice(at);
    if (rest.includes('{{'))
      complain('a {{ has no }} that closes it; write {{"{{"}} for the braces themselves');
    pieces.push(rest);
    return new Template(pieces);
  }

  /** True when nothing has to be filled in. */
  get isPlain(): boolean {
    return this.#pieces.length === 1;
  }

  /** Fills it in. */
  text(scope: TemplateScope): string {
    let text = '';
    for (const piece of this.#pieces) {
      text += typeof piece === 'string' ? piece : valueToText(piece(scope));
      if (text.length > scope.maxLength) return truncateText(text, scope.maxLength);
    }
    return text;
  }

  /** Fills it in; a template that is nothing but one expression keeps what kind of value it gives. */
  value(scope: TemplateScope): unknown {
    const [before, expression, after] = this.#pieces;
    if (this.#pieces.length !== 3 || before !== '' || after !== '' || typeof expression !== 'function')
      return this.text(scope);
    const value = expression(scope);
    return typeof value === 'string' ? truncateText(value, scope.maxLength) : value;
  }
}

function expressionOf(source: string, hasMatch: boolean, complain: Complain): Expression {
  const nothing: Expression = () => undefined;
  const [head, ...filters] = stagesOf(source);
  const [first, ...rest] = head ?? [];
  if (!first) {
    complain(`{{${source}}} says nothing`);
    return nothing;
  }
  let expression: Expression;
  if (first.isQuoted) {
    expression = () => first.text;
    if (rest.length > 0) complain(`{{${source}}}: a text takes nothing behind it; use | before a filter`);
  } else {
    const named = resolveVariable(
      first.text,
      rest.map(({ text }) => text),
      hasMatch,
    );
    if (typeof named === 'string') complain(`{{${source.trim()}}}: ${named}`);
    expression = typeof named === 'string' ? nothing : named;
  }
  for (const [name, ...args] of filters) {
    const filter = findFilter(
      name?.text ?? '',
      args.map(({ text }) => text),
    );
    if (typeof filter === 'string') {
      complain(`{{${source.trim()}}}: ${filter}`);
      continue;
    }
    const before = expression;
    expression = (scope) => filter(before(scope), scope);
  }
  return expression;
}

interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The words of an expression, in the stages that `|` makes of it. */
function stagesOf(source: string): Word[][] {
  const stages: Word[][] = [[]];
  for (const [whole, double, single] of source.matchAll(/"([^"]*)"|'([^']*)'|\||[^\s|"']+/g)) {
    if (whole === '|') stages.push([]);
    else {
      const quoted = double ?? single;
      stages.at(-1)?.push({ text: quoted ?? whole, isQuoted: quoted !== undefined });
    }
  }
  return stages;
}
