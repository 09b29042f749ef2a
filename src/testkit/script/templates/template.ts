import { findFilter } from './filters.ts';
import { resolveVariable } from './variables.ts';
import type { TemplateScope } from './template-scope.ts';
import { truncate } from '../../../primitives/text.ts';
import { valueToText } from './text-format.ts';

/** Reports an error in a template. */
type Report = (message: string) => void;

/** Compiled expression between braces. */
type Expression = (scope: TemplateScope) => unknown;

/** A text with `{{…}}` expressions. */
export class Template {
  /** Alternating texts and expressions, starting with a text. */
  readonly #pieces: readonly (string | Expression)[];

  private constructor(pieces: readonly (string | Expression)[]) {
    this.#pieces = pieces;
  }

  /**
   * Parses a template. All errors are reported here; rendering never fails.
   *
   * @param hasMatch - whether the rule has a regular expression, so that `match` is available.
   */
  static parse(text: string, hasMatch: boolean, report: Report): Template {
    const pieces: (string | Expression)[] = [];
    let position = 0;
    for (const found of text.matchAll(/\{\{((?:"[^"]*"|'[^']*'|[^{}"'])*)\}\}/g)) {
      const before = text.slice(position, found.index);
      if (before.includes('{{')) report(unclosedExpression);
      pieces.push(before);
      pieces.push(parseExpression(found[1] ?? '', hasMatch, report));
      position = found.index + found[0].length;
    }
    const rest = text.slice(position);
    if (rest.includes('{{')) report(unclosedExpression);
    pieces.push(rest);
    return new Template(pieces);
  }

  /** True if the template has no expressions. */
  get isPlain(): boolean {
    return this.#pieces.length === 1;
  }

  /** Renders the template. */
  text(scope: TemplateScope): string {
    let text = '';
    for (const piece of this.#pieces) {
      text += typeof piece === 'string' ? piece : valueToText(piece(scope));
      if (text.length > scope.maxLength) return truncate(text, scope.maxLength);
    }
    return text;
  }

  /** Renders the template; a template of exactly one expression keeps the type of its value. */
  value(scope: TemplateScope): unknown {
    const [before, expression, after] = this.#pieces;
    if (this.#pieces.length !== 3 || before !== '' || after !== '' || typeof expression !== 'function')
      return this.text(scope);
    const value = expression(scope);
    return typeof value === 'string' ? truncate(value, scope.maxLength) : value;
  }
}

function parseExpression(source: string, hasMatch: boolean, report: Report): Expression {
  const empty: Expression = () => undefined;
  const [head, ...filters] = tokenize(source);
  const [first, ...rest] = head ?? [];
  if (!first) {
    report(`{{${source}}} is empty`);
    return empty;
  }
  let expression: Expression;
  if (first.isQuoted) {
    expression = () => first.text;
    if (rest.length > 0) report(`{{${source}}}: a string has no arguments; use | before a filter`);
  } else {
    const variable = resolveVariable(
      first.text,
      rest.map(({ text }) => text),
      hasMatch,
    );
    if (typeof variable === 'string') report(`{{${source.trim()}}}: ${variable}`);
    expression = typeof variable === 'string' ? empty : variable;
  }
  for (const [name, ...args] of filters) {
    const filter = findFilter(
      name?.text ?? '',
      args.map(({ text }) => text),
    );
    if (typeof filter === 'string') {
      report(`{{${source.trim()}}}: ${filter}`);
      continue;
    }
    const inner = expression;
    expression = (scope) => filter(inner(scope), scope);
  }
  return expression;
}

interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Splits an expression into tokens, grouped by `|`. */
function tokenize(source: string): Token[][] {
  const stages: Token[][] = [[]];
  for (const [token, double, single] of source.matchAll(/"([^"]*)"|'([^']*)'|\||[^\s|"']+/g)) {
    if (token === '|') stages.push([]);
    else {
      const quoted = double ?? single;
      stages.at(-1)?.push({ text: quoted ?? token, isQuoted: quoted !== undefined });
    }
  }
  return stages;
}

const unclosedExpression = 'missing }} after {{; write {{"{{"}} for literal braces';
