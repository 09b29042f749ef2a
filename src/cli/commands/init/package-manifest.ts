import { readFileSync } from 'node:fs';
import { asJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** What a project adds to its package.json. */
export interface ManifestEntries {
  readonly scripts: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
}

/** The package.json of an existing package. */
export interface ExistingManifest {
  readonly path: string;
  readonly text: string;
  readonly content: JsonObject;
  readonly name: string | undefined;
  /** True if its `.js` files are ES modules. */
  readonly isModule: boolean;
}

/** Reads a package.json. @throws UsageError if it is not a JSON object */
export function readManifest(path: string): ExistingManifest {
  const text = readFileSync(path, 'utf8');
  const content = asJsonObject(parseJsonOrUndefined(text));
  if (!content) throw new UsageError(`${path} is not a JSON object; nothing was written`, 'Repair the file.');
  const { name, type } = content;
  return {
    path,
    text,
    content,
    name: typeof name === 'string' ? name.replace(/^@[^/]*\//, '') : undefined,
    isModule: type === 'module',
  };
}

/** Adds entries to a package.json; entries that exist stay as they are. */
export function extendManifest({ content, text }: ExistingManifest, entries: ManifestEntries): string {
  const extended: JsonObject = { ...content };
  const isInstalled = (name: string): boolean =>
    [content.dependencies, content.devDependencies].some((each) =>
      Object.hasOwn(asJsonObject(each) ?? {}, name),
    );
  for (const [member, added] of Object.entries(entries)) {
    const wanted = Object.entries(added as { [name: string]: string }).filter(
      ([name]) => member === 'scripts' || !isInstalled(name),
    );
    if (wanted.length > 0)
      extended[member] = { ...Object.fromEntries(wanted), ...asJsonObject(content[member]) };
  }
  const [, indent = '  '] = /^\{\r?\n([ \t]+)"/.exec(text) ?? [];
  return `${JSON.stringify(extended, undefined, indent)}\n`;
}
