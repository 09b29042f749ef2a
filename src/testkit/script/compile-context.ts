import type { DocumentPath } from '../../documents/schema-issues.ts';
import { Template } from './templates/template.ts';
import type { TemplateScope } from './templates/template-scope.ts';

/** Makes a value when its turn has come. */
export type ValueFactory<Made> = (scope: TemplateScope) => Made;

/** What is needed to make a script of what a file says. */
export interface CompileContext {
  /** Takes everything that is wrong, with where it stands. */
  report(path: DocumentPath, message: string): void;
  /** Reads a file beside the script as base64; what it gives when it cannot is told to `complain`. */
  attach(file: string, path: DocumentPath): string;
  /** Whether there is a regular expression for `match` to speak of. */
  readonly hasMatch: boolean;
}

/** Reads a text in which templates are filled in. */
export function compileText(
  text: string,
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<string> {
  const template = templateOf(text, path, compiling);
  return template.isPlain ? () => text : (scope) => template.text(scope);
}

/** Reads a JSON value in whose texts templates are filled in. */
export function compileValue(
  value: unknown,
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<unknown> {
  if (typeof value === 'string') {
    const template = templateOf(value, path, compiling);
    return template.isPlain ? () => value : (scope) => template.value(scope);
  }
  if (Array.isArray(value)) {
    const items = value.map((each, index) => compileValue(each, [...path, index], compiling));
    return (scope) => items.map((make) => make(scope));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const members = Object.entries(value).map(
    ([key, each]) => [key, compileValue(each, [...path, key], compiling)] as const,
  );
  return (scope) => Object.fromEntries(members.map(([key, make]) => [key, make(scope)]));
}

/** Reads an object as {@link compileValue} does. */
export function compileObject(
  value: { readonly [key: string]: unknown },
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<{ [key: string]: unknown }> {
  return compileValue(value, path, compiling) as ValueFactory<{ [key: string]: unknown }>;
}

function templateOf(text: string, path: DocumentPath, compiling: CompileContext): Template {
  return Template.parse(text, compiling.hasMatch, (message) => compiling.report(path, message));
}
