import type { DocumentPath } from '../../documents/schema-issues.ts';
import { Template } from './templates/template.ts';
import type { TemplateScope } from './templates/template-scope.ts';

/** Creates a value during playback. */
export type ValueFactory<Value> = (scope: TemplateScope) => Value;

/** Collaborators of script compilation. */
export interface CompileContext {
  /** Reports a diagnostic. */
  report(path: DocumentPath, message: string): void;
  /** Reads an attachment as base64. Errors are reported as diagnostics. */
  attach(file: string, path: DocumentPath): string;
  /** Whether the rule has a regular expression, so that `match` is available. */
  readonly hasMatch: boolean;
}

/** Compiles a text with templates. */
export function compileText(text: string, path: DocumentPath, context: CompileContext): ValueFactory<string> {
  const template = parseTemplate(text, path, context);
  return template.isPlain ? () => text : (scope) => template.text(scope);
}

/** Compiles a JSON value with templates in its strings. */
export function compileValue(
  value: unknown,
  path: DocumentPath,
  context: CompileContext,
): ValueFactory<unknown> {
  if (typeof value === 'string') {
    const template = parseTemplate(value, path, context);
    return template.isPlain ? () => value : (scope) => template.value(scope);
  }
  if (Array.isArray(value)) {
    const items = value.map((each, index) => compileValue(each, [...path, index], context));
    return (scope) => items.map((create) => create(scope));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const members = Object.entries(value).map(
    ([key, each]) => [key, compileValue(each, [...path, key], context)] as const,
  );
  return (scope) => Object.fromEntries(members.map(([key, create]) => [key, create(scope)]));
}

/** Like {@link compileValue}, for objects. */
export function compileObject(
  value: { readonly [key: string]: unknown },
  path: DocumentPath,
  context: CompileContext,
): ValueFactory<{ [key: string]: unknown }> {
  return compileValue(value, path, context) as ValueFactory<{ [key: string]: unknown }>;
}

function parseTemplate(text: string, path: DocumentPath, context: CompileContext): Template {
  return Template.parse(text, context.hasMatch, (message) => context.report(path, message));
}
