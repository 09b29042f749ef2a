// Generates docs/reference/api/ from TSDoc comments: a page per package subpath, and an index.
// With --check it writes nothing and exits with 1 if a page is stale or an export is not documented.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { docOf, docOfNode, exampleOf, moduleText, sentenceOf } from './reference/comments.mjs';
import {
  headOf,
  kindOf,
  membersOf,
  signatureOf,
  typeText,
  withoutComments,
} from './reference/declarations.mjs';
import { compare, escapeHtml, flat, inCell, lower } from './reference/text.mjs';

const folder = 'docs/reference/api';
const { name: packageName, exports } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The module subpaths with their source and page. */
const modules = Object.entries(exports)
  .filter(([, target]) => typeof target !== 'string')
  .map(([subpath, target]) => ({
    name: subpath.replace(/^\./, packageName),
    source: resolve(target.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')),
    page: subpath === '.' ? 'root.md' : `${subpath.slice(2).replaceAll('/', '-')}.md`,
    isRoot: subpath === '.',
  }));

const program = ts.createProgram(
  modules.map(({ source }) => source),
  {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
);
const checker = program.getTypeChecker();
const undocumented = [];

// An export of several subpaths is documented once, on the page of its source folder.
const homes = new Map();
for (const module of modules) {
  const file = program.getSourceFile(module.source);
  const symbol = checker.getSymbolAtLocation(file);
  module.exports = (symbol ? checker.getExportsOfModule(symbol) : [])
    .map((each) => ({ name: each.name, symbol: resolved(each) }))
    .sort((a, b) => compare(a.name, b.name));
  for (const { name, symbol } of module.exports) {
    const rank = rankOf(module, symbol);
    const home = homes.get(symbol);
    if (!home || rank > home.rank) homes.set(symbol, { module, name, rank });
  }
}
const byName = new Map();
for (const home of homes.values()) byName.set(home.name, [...(byName.get(home.name) ?? []), home]);

/** The anchor of an export, as GitHub creates it; headings that differ only in case are numbered. */
for (const module of modules) {
  const seen = new Map();
  module.anchors = new Map();
  for (const { title, entries } of groupsOf(module)) {
    for (const heading of [title, ...entries.map(({ name }) => name)]) {
      const slug = heading.toLowerCase();
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      module.anchors.set(heading, before === 0 ? slug : `${slug}-${before}`);
    }
  }
}

const pages = new Map(modules.map((module) => [module.page, pageOf(module)]));
pages.set('README.md', indexPage());

if (process.argv.includes('--check')) check();
else write();

function write() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [page, text] of pages) writeFileSync(join(folder, page), text);
  console.log(`${pages.size} pages in ${folder}`);
  for (const each of undocumented) console.log(`no sentence: ${each}`);
}

function check() {
  const there = existsSync(folder) ? readdirSync(folder) : [];
  const stale = [...pages].filter(
    ([page, text]) => !there.includes(page) || readFileSync(join(folder, page), 'utf8') !== text,
  );
  const left = there.filter((page) => !pages.has(page));
  for (const page of [...stale.map(([page]) => page), ...left].sort())
    console.log(`stale: ${folder}/${page}`);
  for (const each of undocumented) console.log(`no sentence: ${each}`);
  if (stale.length + left.length > 0) console.log('Run `npm run reference` to update them.');
  process.exitCode = stale.length + left.length + undocumented.length > 0 ? 1 : 0;
}

// Pages

function indexPage() {
  const rows = modules.map(
    ({ name, page, source, exports }) =>
      `| [\`${name}\`](${page}) | ${inCell(sentenceOf(moduleText(source)))} | ${exports.length} |`,
  );
  return `# Reference

What each import of the package has. These pages are made from the comments in the sources by \`npm run reference\`.

| import | what for | exports |
|---|---|---|
${rows.join('\n')}

See also the [commands](../cli.md) and the [errors](../errors.md).
`;
}

function pageOf(module) {
  if (moduleText(module.source) === '') undocumented.push(module.name);
  const others = module.exports.filter(({ symbol }) => homes.get(symbol).module !== module);
  const shown = groupsOf(module);
  const lines = [`# \`${module.name}\``, '', prose(moduleText(module.source), module), ''];
  if (shown.length > 0) {
    lines.push('| | |', '|---|---|');
    for (const { title, entries } of shown) {
      lines.push(
        `| ${title} | ${entries.map(({ name }) => `[\`${name}\`](#${module.anchors.get(name)})`).join(', ')} |`,
      );
    }
    lines.push('');
  }
  for (const { title, entries } of shown) {
    lines.push(`## ${title}`, '');
    for (const { name, symbol } of entries) lines.push(...entryOf(name, symbol, module));
  }
  if (others.length > 0) {
    lines.push(shown.length > 0 ? '## Also here' : '## What it has', '');
    lines.push('| name | what | described in |', '|---|---|---|');
    for (const { name, symbol } of others) {
      const home = homes.get(symbol);
      lines.push(
        `| [\`${name}\`](${addressOf(home, module)}) | ${inCell(prose(sentenceOf(docOf(symbol).text), module))} | \`${home.module.name}\` |`,
      );
    }
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

/** The exports documented on the page of a module, by kind. */
function groupsOf(module) {
  const own = module.exports.filter(({ symbol }) => homes.get(symbol).module === module);
  return [
    ['Functions', 'function'],
    ['Classes', 'class'],
    ['Interfaces', 'interface'],
    ['Types', 'type'],
    ['Constants', 'constant'],
  ]
    .map(([title, kind]) => ({ title, entries: own.filter(({ symbol }) => kindOf(symbol) === kind) }))
    .filter(({ entries }) => entries.length > 0);
}

function entryOf(name, symbol, module) {
  const doc = docOf(symbol);
  if (doc.text === '') undocumented.push(`${module.name} ${name}`);
  const lines = [`### \`${name}\``, ''];
  const head = headOf(name, symbol, checker);
  // The heading above already states that it is an interface.
  if (head !== `interface ${name}`) lines.push('```ts', head, '```', '');
  lines.push(prose(doc.text, module), '');
  const told = [];
  for (const { name: parameter, text } of doc.params)
    told.push(`- \`${parameter}\`: ${prose(text, module, ' ')}`);
  if (doc.returns) told.push(`- Returns ${lower(prose(doc.returns, module, ' '))}`);
  for (const each of doc.throws) told.push(`- Throws ${prose(each, module, ' ')}`);
  if (doc.defaultValue) told.push(`- Default: ${prose(doc.defaultValue, module, ' ')}`);
  if (told.length > 0) lines.push(...told, '');
  for (const example of doc.examples) lines.push(exampleOf(example), '');
  const members = membersOf(symbol);
  if (members.length > 0) {
    lines.push('| member | type | |', '|---|---|---|');
    for (const member of members) lines.push(memberRow(member, module));
    lines.push('');
  }
  const used = usedIn(symbol, module);
  if (used !== '') lines.push(`Uses ${used}.`, '');
  return lines;
}

function memberRow(member, module) {
  const doc = docOfNode(member);
  const symbol = checker.getSymbolAtLocation(member.name);
  // A member without a comment inherits the comment of the implemented interface.
  if (doc.text === '') doc.text = ts.displayPartsToString(symbol?.getDocumentationComment(checker)).trim();
  const isFunction =
    ts.isMethodSignature(member) || ts.isMethodDeclaration(member) || ts.isGetAccessor(member);
  const allowAnonymous = member.questionToken !== undefined;
  const modifiers = ts.getCombinedModifierFlags(member);
  const prefix = modifiers & ts.ModifierFlags.Static ? 'static ' : '';
  const type = ts.isGetAccessor(member)
    ? (member.type?.getText() ?? typeText(symbol, member, checker))
    : isFunction
      ? signatureOf(member, ' ', checker).replace(/^((?:<.*?>)?\(.*\)): (.*)$/s, '$1 => $2')
      : (member.type?.getText() ?? typeText(symbol, member, checker));
  const told = [
    prose(doc.text, module, ' '),
    ...doc.params.map(({ name, text }) => `\`${name}\`: ${prose(text, module, ' ')}`),
    doc.returns && `Returns ${lower(prose(doc.returns, module, ' '))}`,
    ...doc.throws.map((each) => `Throws ${prose(each, module, ' ')}`),
    doc.defaultValue && `Default: ${prose(doc.defaultValue, module, ' ')}`,
  ].filter(Boolean);
  const name = `${prefix}${member.name.getText()}${allowAnonymous ? '?' : ''}`;
  return `| \`${name}\` | ${linkedType(flat(withoutComments(type)), member, module)} | ${told.map(inCell).join('<br>')} |`;
}

// Types

/** Formats a type with links to documented types. */
function linkedType(text, node, module) {
  const homesByName = describedIn(node);
  const parts = text.split(/\b([A-Za-z_$][\w$]*)\b/).map((part, index) => {
    const home = index % 2 === 1 ? homesByName.get(part) : undefined;
    const escaped = escapeHtml(part);
    return home ? `<a href="${addressOf(home, module)}">${escaped}</a>` : escaped;
  });
  return `<code>${parts.join('')}</code>`;
}

/** The documented types that a declaration refers to, by local name. */
function describedIn(node) {
  const found = new Map();
  const visit = (each) => {
    if (ts.isTypeReferenceNode(each) || ts.isExpressionWithTypeArguments(each)) {
      const name = each.typeName ?? each.expression;
      const symbol = checker.getSymbolAtLocation(name);
      const home = symbol && homes.get(resolved(symbol));
      if (home) found.set(name.getText(), home);
    }
    if (!ts.isBlock(each)) ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

/** The documented types of a code block, which cannot contain links. */
function usedIn(symbol, module) {
  const found = new Map();
  for (const declaration of symbol.declarations ?? []) {
    const nodes =
      ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)
        ? (declaration.heritageClauses ?? [])
        : [...(declaration.parameters ?? []), declaration.type].filter(Boolean);
    for (const [name, home] of nodes.flatMap((node) => [...describedIn(node)])) {
      if (homes.get(symbol) !== home) found.set(name, `[\`${name}\`](${addressOf(home, module)})`);
    }
  }
  return [...found.values()].join(', ');
}

// Links

/** A comment as Markdown, with its links resolved. */
function prose(text, module, joint = '\n') {
  const linked = text.replaceAll(/\{@link\s+([\w.]+)\s*\}/g, (_, path) => {
    const [name] = path.split('.');
    const home = lookup(name, module);
    return home ? `[\`${path}\`](${addressOf(home, module)})` : `\`${path}\``;
  });
  return joint === ' ' ? flat(linked) : linked;
}

/** Resolves a link in a comment; exports of the same module take precedence. */
function lookup(name, module) {
  const found = byName.get(name) ?? [];
  return (
    found.find((home) => home.module === module) ??
    found.find((home) => module.exports.some(({ symbol }) => homes.get(symbol) === home)) ??
    found[0]
  );
}

function addressOf(home, module) {
  return `${home.module === module ? '' : home.module.page}#${home.module.anchors.get(home.name)}`;
}

function resolved(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The distance between a module and the source of an export; the root is the last choice. */
function rankOf(module, symbol) {
  if (module.isRoot) return 0;
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  if (file === module.source) return 10_000;
  const home = basename(module.source) === 'index.ts' ? `${dirname(module.source)}/` : module.source;
  return file.startsWith(home) ? home.length : 1;
}
