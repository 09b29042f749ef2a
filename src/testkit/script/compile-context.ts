import type { Path } from '../../documents/schema-issues.ts';
import { Template } from './templates/template.ts';
import type { Scope } from './templates/template-scope.ts';

/** Makes a value when its turn has come. */
export type Making<Made> = (scope: Scope) => Made;

/** What is needed to make a script of what a file says. */
export interface Compiling {
  /** Takes everything that is wrong, with where it stands. */
  complain(path: Path, message: string): void;
  /** Reads a file beside the script as base64; what it gives when it cannot is told to `complain`. */
  attach(file: string, path: Path): string;
  /** Whether there is a regular expression for `match` to speak of. */
  readonly hasMatch: boolean;
}

/** Reads a text in which templates are filled in. */
export function textMaker(text: string, path: Path, compiling: Compiling): Making<string> {
  const template = templateOf(text, path, compiling);
  return template.isPlain ? () => text : (scope) => template.text(scope);
}

/** Reads a JSON value in whose texts templates are filled in. */
export function valueMaker(value: unknown, path: Path, compiling: Compiling): Making<unknown> {
  if (typeof value === 'string') {
    const template = templateOf(value, path, compiling);
    return template.isPlain ? () => value : (scope) => template.value(scope);
  }
  if (Array.isArray(value)) {
    const items = value.map((each, index) => valueMaker(each, [...path, index], compiling));
    return (scope) => items.map((make) => make(scope));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const members = Object.entries(value).map(
    ([key, each]) => [key, valueMaker(each, [...path, key], compiling)] as const,
  );
  return (scope) => Object.fromEntries(members.map(([key, make]) => [key, make(scope)]));
}

/** Reads an object as {@link valueMaker} does. */
export function objectMaker(
  value: { readonly [key: string]: unknown },
  path: Path,
  compiling: Compiling,
): Making<{ [key: string]: unknown }> {
  return valueMaker(value, path, compiling) as Making<{ [key: string]: unknown }>;
}

function templateOf(text: string, path: Path, compiling: Compiling): Template {
  return Template.parse(text, compiling.hasMatch, (message) => compiling.complain(path, message));
}
