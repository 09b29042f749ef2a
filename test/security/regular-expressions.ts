import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression of the source. */
export interface FoundExpression {
  /** Literal, such as `/a+/g`, or the text of a constructor call whose argument is computed. */
  readonly text: string;
  /** File and line of each occurrence. */
  readonly places: string[];
  readonly isComputed: boolean;
}

/** The part of `recheck` that is used here. Loaded on demand, because it starts a process. */
interface Checker {
  check(
    source: string,
    flags: string,
    options: { timeout: number; checker: 'automaton' | 'fuzz' },
  ): Promise<
    | { status: 'safe' }
    | { status: 'vulnerable'; complexity: { summary: string } }
    | { status: 'unknown'; error: { kind: string } }
  >;
}

const root = join(import.meta.dirname, '../..');

let found: readonly FoundExpression[] | undefined;

/** Finds the regular expressions in `src/` and `console/src/`: literals, and calls of `RegExp`. Reads the files once. */
export function findExpressions(): readonly FoundExpression[] {
  found ??= readExpressions();
  return found;
}

function readExpressions(): FoundExpression[] {
  const found = new Map<string, FoundExpression>();
  for (const folder of ['src', 'console/src']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name) || /\.test\.tsx?$/.test(name)) continue;
      const file = `${folder}/${name.replaceAll('\\', '/')}`;
      const text = readFileSync(join(root, file), 'utf8');
      for (const { expression, isComputed, line } of expressionsIn(file, text)) {
        const known = found.get(expression) ?? { text: expression, places: [], isComputed };
        known.places.push(`${file}:${line}`);
        found.set(expression, known);
      }
    }
  }
  return [...found.values()].toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

/** Files whose expressions the checker cannot judge, with the reason why they are harmless. */
const bounded: ReadonlyMap<string, string> = new Map([
  ['src/tap/scenario/expected-text.ts', 'reads at most 4,000 characters'],
]);

/** Returns the expressions that must be linear. Without a repetition an expression is. */
export function findCheckedExpressions(): FoundExpression[] {
  return findExpressions().filter(
    ({ text, isComputed, places }) =>
      !isComputed && /[*+{]/.test(text) && !places.every((each) => bounded.has(each.replace(/:\d+$/, ''))),
  );
}

/** Returns why an expression is not linear; undefined if it is. */
export async function findFlaw(literal: string, timeout: number): Promise<string | undefined> {
  const checker = createRequire(import.meta.url)('recheck') as Checker;
  const slash = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, slash), literal.slice(slash + 1)];
  let result = await checker.check(source, flags, { timeout, checker: 'automaton' });
  // The proof does not support assertions and back-references; then the checker searches for an attack.
  if (result.status === 'unknown') result = await checker.check(source, flags, { timeout, checker: 'fuzz' });
  if (result.status === 'safe') return undefined;
  return result.status === 'vulnerable' ? result.complexity.summary : `not decided (${result.error.kind})`;
}

function expressionsIn(
  file: string,
  text: string,
): { expression: string; isComputed: boolean; line: number }[] {
  const found: { expression: string; isComputed: boolean; line: number }[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const constants = constantsOf(source);
  const add = (node: ts.Node, expression: string, isComputed: boolean) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push({ expression, isComputed, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) add(node, node.text, false);
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isCall && node.expression.getText() === 'RegExp') {
      const [pattern, flags] = (node.arguments ?? []).map((each) => fold(each, constants));
      const isKnown = pattern !== undefined && (flags !== undefined || node.arguments?.length === 1);
      add(node, isKnown ? String(new RegExp(pattern, flags)) : node.getText(), !isKnown);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function constantsOf(source: ts.SourceFile): Map<string, ts.Expression> {
  const constants = new Map<string, ts.Expression>();
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations)
      if (initializer) constants.set(name.getText(), initializer);
  }
  return constants;
}

/** Computes a text from literals, templates and constants of the same file; undefined if it contains anything else. */
function fold(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isIdentifier(node)) {
    const value = constants.get(node.text);
    return value && fold(value, constants);
  }
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw')
    return foldTemplate(node.template, constants, (each) => each.rawText);
  return ts.isTemplateExpression(node) ? foldTemplate(node, constants, (each) => each.text) : undefined;
}

function foldTemplate(
  template: ts.TemplateLiteral,
  constants: ReadonlyMap<string, ts.Expression>,
  textOf: (each: ts.TemplateLiteralLikeNode) => string | undefined,
): string | undefined {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return textOf(template);
  let text = textOf(template.head) ?? '';
  for (const { expression, literal } of template.templateSpans) {
    const value = fold(expression, constants);
    if (value === undefined) return undefined;
    text += value + (textOf(literal) ?? '');
  }
  return text;
}
