import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from './support/cli/run-command.ts';

/** A file of `src/`, its path with forward slashes and below `src/`. */
interface Source {
  path: string;
  text: string;
}

/**
 * Which folder of `src/` may import which. A folder may import itself and `primitives`; folders that only run in Node
 * may import `primitives/node`.
 */
const may: { readonly [folder: string]: readonly string[] } = {
  primitives: [],
  'primitives/node': ['primitives'],
  protocol: [],
  dialects: ['protocol'],
  store: ['protocol'],
  egress: ['protocol'],
  metrics: ['protocol'],
  tracing: ['protocol'],
  push: ['protocol', 'dialects', 'store', 'egress', 'metrics', 'tracing'],
  engine: ['protocol', 'store', 'push', 'metrics', 'tracing'],
  server: ['protocol', 'dialects', 'metrics', 'tracing'],
  client: ['protocol', 'dialects', 'egress', 'tracing'],
  signing: ['protocol', 'dialects'],
  documents: ['protocol'],
  artifacts: ['protocol'],
  mesh: ['protocol', 'dialects', 'tracing', 'metrics'],
  gateway: [
    'protocol',
    'dialects',
    'documents',
    'artifacts',
    'client',
    'egress',
    'mesh',
    'metrics',
    'server',
    'signing',
    'tap',
    'tracing',
  ],
  testkit: [
    'protocol',
    'dialects',
    'documents',
    'artifacts',
    'client',
    'engine',
    'gateway',
    'store',
    'mesh',
    'metrics',
    'server',
  ],
  // What passes is seen where it passes: at a server, a client, a link.
  tap: ['protocol', 'dialects', 'documents', 'client', 'mesh', 'server', 'metrics'],
  console: [
    'protocol',
    'dialects',
    'documents',
    'client',
    'conformance',
    'store',
    'metrics',
    'push',
    'server',
    'tap',
  ],
  // A whole town out of one file.
  up: [
    'protocol',
    'documents',
    'artifacts',
    'bridge',
    'client',
    'console',
    'engine',
    'gateway',
    'store',
    'server',
    'tap',
    'testkit',
  ],
  cli: [
    'tap',
    'console',
    'up',
    'protocol',
    'dialects',
    'documents',
    'store',
    'metrics',
    'push',
    'engine',
    'server',
    'client',
    'artifacts',
    'mesh',
    'gateway',
    'testkit',
    'bridge',
    'conformance',
    'conformance/mutants',
    'egress',
    'signing',
  ],
  // An MCP server becomes an agent that the engine runs.
  bridge: ['protocol', 'client', 'artifacts', 'documents', 'egress', 'engine', 'store', 'server', 'metrics'],
  // Raw wire only: what is checked with our own client or server would be forgiven their faults.
  conformance: ['protocol', 'documents'],
  // Agents that are wrong in one thing are made of the ones that are right.
  'conformance/mutants': [
    'protocol',
    'conformance',
    'engine',
    'server',
    'store',
    'push',
    'dialects',
    'signing',
  ],
  // The root of the package shows what is inside and is imported by nobody.
  '': ['protocol', 'dialects', 'store', 'metrics', 'engine', 'server', 'client'],
};

/** The one folder that knows a library; tokens and signed cards are signed with the same one. */
const homes: { readonly [library: string]: string | readonly string[] } = {
  undici: 'client',
  libsql: 'store',
  'ipaddr.js': 'egress',
  jose: ['signing', 'push', 'server', 'conformance'],
  canonicalize: ['signing', 'conformance'],
  commander: 'cli',
  picocolors: 'cli',
  pino: 'cli',
  yaml: 'documents',
  // A schema is written where its document is read.
  zod: ['documents', 'gateway', 'bridge', 'testkit', 'conformance', 'tap', 'console', 'up', 'cli'],
  mqtt: 'mesh',
  '@nats-io/transport-node': 'mesh',
  '@nats-io/jetstream': 'mesh',
  s3mini: 'artifacts',
  vitest: 'testkit',
  '@opentelemetry/api': 'tracing',
  '@modelcontextprotocol/server': 'bridge',
  '@modelcontextprotocol/client': 'bridge',
};

/** Folders that also run in browsers and workers. */
const portable = ['primitives', 'protocol', 'dialects'];

/** Folders that run only in Node.js and may import `primitives/node`. */
const nodeOnly = [
  'server',
  'push',
  'engine',
  'store',
  'egress',
  'mesh',
  'gateway',
  'bridge',
  'testkit',
  'conformance',
  'conformance/mutants',
  'tap',
  'console',
  'up',
  'cli',
];

/** The package that a specifier names, without the subpath. */
const libraryOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const folderOf = (path: string): string => {
  const nested = Object.keys(may).find((folder) => folder.includes('/') && path.startsWith(`${folder}/`));
  return nested ?? (path.includes('/') ? (path.split('/')[0] ?? '') : '');
};

/** Everything a file imports, statically, lazily or for its types. A statement begins its line; a text may not. */
function importsOf(text: string): string[] {
  const statements = /^(?:import|export)\s+(?:[\w\s,*{}$]+\sfrom\s+)?(['"])([^'"\n]+)\1/gm;
  const calls = /\b(?:import|getBuiltinModule)(?:\?\.)?\(\s*(['"])([^'"\n]+)\1/g;
  return [...text.matchAll(statements), ...text.matchAll(calls)].map(([, , specifier = '']) => specifier);
}

/** What a file does that the plan of the house does not allow. */
function violations({ path, text }: Source): string[] {
  const folder = folderOf(path);
  const allowed = may[folder];
  if (!allowed) return [`${path}: ${folder}/ is not on the plan`];
  const found: string[] = [];
  for (const specifier of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = folderOf(normalize(join(dirname(path), specifier)).replaceAll('\\', '/'));
      const isAllowed =
        target === folder ||
        target === 'primitives' ||
        (target === 'primitives/node' && nodeOnly.includes(folder)) ||
        allowed.includes(target);
      if (!isAllowed) found.push(`${path} imports ${specifier}`);
    } else if (specifier.startsWith('node:')) {
      if (portable.includes(folder)) found.push(`${path} needs Node: ${specifier}`);
    } else if (![homes[libraryOf(specifier)]].flat().includes(folder)) {
      found.push(`${path} imports the library ${specifier}`);
    }
  }
  if (/(^|[/.-])(utils?|helpers?|common)([/.-]|$)/.test(path))
    found.push(`${path}: a name that says nothing`);
  if (text.split('\n').length > 401) found.push(`${path} has more than 400 lines`);
  if (folder !== 'dialects' && /legacy/i.test(text)) found.push(`${path} speaks of legacy`);
  // Comments may show a console; code may not use one.
  const code = text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
  if (folder !== 'cli' && /(?<![\w/-])console\./.test(code)) found.push(`${path} writes to the console`);
  return found;
}

/** What of `src/` the page runs in a browser; types are gone by then. */
const browsed = /\/src\/(?:primitives\/(?!node\/)|protocol\/|tap\/to-curl\.ts$)/;

/** What a file of the page brings into the browser that is not for it. */
function strangersIn({ path, text }: Source): string[] {
  const values = text.replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  return importsOf(values)
    .filter((specifier) => specifier.includes('/src/') && !browsed.test(specifier))
    .map((specifier) => `${path} imports ${specifier}`);
}

function sources(folder = 'src'): Source[] {
  const top = join(repositoryRoot, folder);
  return (readdirSync(top, { recursive: true }) as string[])
    .filter((path) => /\.tsx?$/.test(path) && !/\.test(-d)?\.ts$/.test(path))
    .filter((path) => statSync(join(top, path)).isFile())
    .map((path) => ({
      path: relative(top, join(top, path)).replaceAll('\\', '/'),
      text: readFileSync(join(top, path), 'utf8'),
    }));
}

describe('the architecture', () => {
  it('has files to look at', () => {
    expect(sources().length).toBeGreaterThan(80);
  });

  it('keeps every arrow, name and size', () => {
    expect(sources().flatMap(violations)).toEqual([]);
  });

  it('has every folder that the plan names', () => {
    const folders = new Set(sources().map(({ path }) => folderOf(path)));
    expect([...folders].sort()).toEqual(Object.keys(may).sort());
  });

  it('has a page that takes types, and little else, of the rest', () => {
    const page = sources('console/src');
    expect(page.length).toBeGreaterThan(50);
    expect(page.flatMap(strangersIn)).toEqual([]);
    const text = "import { serve } from '../../../../src/server/node.ts';";
    expect(strangersIn({ path: 'views/wire/state.ts', text })).toHaveLength(1);
  });

  it('imports each library from somewhere', () => {
    const imported = new Set(sources().flatMap(({ text }) => importsOf(text)));
    expect(Object.keys(homes).filter((library) => !imported.has(library))).toEqual([]);
  });
});

describe('the check of the architecture', () => {
  it.each<[string, string, string]>([
    ['an arrow that points up', 'protocol/task.ts', "import { v1_0 } from '../dialects/v1_0/index.ts';"],
    ['a type from above', 'server/face.ts', "import type { LocalAgent } from '../engine/local-agent.ts';"],
    ['a lazy import', 'client/rest.ts', "const { serve } = await import('../server/node.ts');"],
    ['a re-export', 'dialects/index.ts', "export * from '../client/index.ts';"],
    ['an import over several lines', 'engine/run.ts', "import {\n  serve,\n} from '../server/node.ts';"],
    ['an import of the root', 'engine/run.ts', "import { serve } from '../index.ts';"],
    ['Node in a portable folder', 'dialects/choose.ts', "import { Buffer } from 'node:buffer';"],
    ['a module of Node by the back door', 'protocol/part.ts', "process.getBuiltinModule('node:fs')"],
    ['a library away from home', 'server/node.ts', "import { Agent } from 'undici';"],
    ['a library that nobody knows', 'engine/run.ts', "import express from 'express';"],
    ['a side effect', 'engine/run.ts', "import 'commander';"],
    ['a folder that is not on the plan', 'misc/thing.ts', ''],
    ['a name that says nothing', 'engine/string-utils.ts', ''],
    ['another one', 'client/helpers.ts', ''],
    ['a long file', 'engine/run.ts', 'x;\n'.repeat(401)],
    ['the word for what came before', 'server/card.ts', 'const isLegacy = true;'],
    ['a console', 'engine/run.ts', "console.log('here');"],
  ])('finds %s', (_what, path, text) => {
    expect(violations({ path, text })).toHaveLength(1);
  });

  it.each<[string, string, string]>([
    ['an arrow that points down', 'server/face.ts', "import type { Agent } from '../protocol/agent.ts';"],
    ['a neighbour', 'client/bindings/rest.ts', "import { x } from '../http/http.ts';"],
    ['a library at home', 'cli/summary.ts', "import picocolors from 'picocolors';"],
    ['a console in the command', 'cli/main.ts', 'console.log(1);'],
    ['a console in a comment', 'engine/run.ts', '/** @example console.log(1) */'],
    ['400 lines', 'engine/run.ts', 'x;\n'.repeat(400)],
  ])('allows %s', (_what, path, text) => {
    expect(violations({ path, text })).toEqual([]);
  });
});
