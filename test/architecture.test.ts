import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from './support/cli/run-command.ts';

/** A source file with its path below `src/`, with forward slashes. */
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
  store: ['protocol', 'metrics'],
  egress: ['protocol'],
  metrics: ['protocol'],
  tracing: ['protocol'],
  otlp: ['protocol', 'metrics', 'tracing'],
  push: ['protocol', 'dialects', 'store', 'egress', 'metrics', 'tracing'],
  engine: ['protocol', 'store', 'push', 'metrics', 'tracing'],
  // Frames and headers of HTTP/2; knows nothing of A2A.
  http2: [],
  server: ['protocol', 'dialects', 'http2', 'metrics', 'tracing'],
  client: ['protocol', 'dialects', 'egress', 'http2', 'tracing'],
  signing: ['protocol', 'dialects'],
  // The load generator.
  load: ['protocol', 'client'],
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
    'store',
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
    'http2',
    'store',
    'mesh',
    'metrics',
    'server',
    'tap',
  ],
  // Recorders wrap servers, clients and broker connections.
  tap: ['protocol', 'dialects', 'documents', 'client', 'http2', 'mesh', 'server', 'metrics'],
  console: [
    'protocol',
    'dialects',
    'documents',
    'client',
    'conformance',
    'load',
    'store',
    'metrics',
    'push',
    'server',
    'tap',
  ],
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
    'otlp',
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
    'load',
    'signing',
  ],
  // `mcpAgent` is an agent of the engine.
  bridge: [
    'protocol',
    'client',
    'artifacts',
    'documents',
    'egress',
    'engine',
    'store',
    'server',
    'metrics',
    'tracing',
  ],
  // Agents from models, and agents as tools of models.
  llm: ['protocol', 'engine', 'bridge'],
  // Raw HTTP only: with our own client or server, the suite would share their errors.
  conformance: ['protocol', 'documents'],
  // Mutants are variants of correct agents.
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
  // The package root; no other file imports it.
  '': ['protocol', 'dialects', 'store', 'metrics', 'engine', 'server', 'client'],
};

/** The folders that may import a library. */
const homes: { readonly [library: string]: string | readonly string[] } = {
  undici: 'client',
  // Modules that package.json#imports replaces in other runtimes.
  '#http-driver': 'client',
  '#node-server': 'server',
  libsql: 'store',
  pg: 'store',
  'ipaddr.js': 'egress',
  jose: ['signing', 'push', 'server', 'conformance'],
  canonicalize: ['signing', 'conformance'],
  commander: 'cli',
  picocolors: 'cli',
  pino: 'cli',
  yaml: 'documents',
  // Each folder defines the schemas of its own files.
  zod: ['documents', 'gateway', 'bridge', 'testkit', 'conformance', 'tap', 'console', 'up', 'cli'],
  mqtt: 'mesh',
  '@nats-io/transport-node': 'mesh',
  '@nats-io/jetstream': 'mesh',
  s3mini: 'artifacts',
  vitest: 'testkit',
  '@opentelemetry/api': ['tracing', 'otlp'],
  '@opentelemetry/resources': 'otlp',
  '@opentelemetry/sdk-trace-node': 'otlp',
  '@opentelemetry/sdk-metrics': 'otlp',
  '@opentelemetry/exporter-trace-otlp-proto': 'otlp',
  '@opentelemetry/exporter-metrics-otlp-proto': 'otlp',
  '@modelcontextprotocol/server': 'bridge',
  '@modelcontextprotocol/client': 'bridge',
  ai: 'llm',
  '@langchain/core': 'llm',
  '@langchain/langgraph': 'llm',
  '@openai/agents': 'llm',
  '@google/adk': 'llm',
};

/** Folders that also run in browsers and workers. */
const portable = ['primitives', 'protocol', 'dialects'];

/** Folders that run only in Node.js and may import `primitives/node`. */
const nodeOnly = [
  'artifacts',
  'server',
  'push',
  'engine',
  'store',
  'egress',
  'mesh',
  'gateway',
  'bridge',
  'llm',
  'testkit',
  'conformance',
  'conformance/mutants',
  'tap',
  'console',
  'up',
  'cli',
];

/** Returns the package of a specifier, without the subpath. */
const libraryOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const folderOf = (path: string): string => {
  const nested = Object.keys(may).find((folder) => folder.includes('/') && path.startsWith(`${folder}/`));
  return nested ?? (path.includes('/') ? (path.split('/')[0] ?? '') : '');
};

/** Returns the specifiers of all static, dynamic and type imports. Statements start a line, so that strings do not match. */
function importsOf(text: string): string[] {
  const statements = /^(?:import|export)\s+(?:[\w\s,*{}$]+\sfrom\s+)?(['"])([^'"\n]+)\1/gm;
  const calls = /\b(?:import|getBuiltinModule)(?:\?\.)?\(\s*(['"])([^'"\n]+)\1/g;
  return [...text.matchAll(statements), ...text.matchAll(calls)].map(([, , specifier = '']) => specifier);
}

/** Returns the rules that a file violates. */
function violations({ path, text }: Source): string[] {
  const folder = folderOf(path);
  const allowed = may[folder];
  if (!allowed) return [`${path}: ${folder}/ is missing in the table of allowed imports`];
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
  if (/(^|[/.-])(utils?|helpers?|common)([/.-]|$)|(^|\/)(options|config|settings)\.ts$/.test(path))
    found.push(`${path}: use a specific file name`);
  if (text.split('\n').length > 401) found.push(`${path} has more than 400 lines`);
  if (folder !== 'dialects' && /legacy/i.test(text)) found.push(`${path} mentions legacy versions`);
  // Examples in comments may use the console.
  const code = text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
  // The log of programs that set none is the only exception.
  const mayWrite = folder === 'cli' || path === 'primitives/log.ts';
  if (!mayWrite && /(?<![\w/-])console\./.test(code)) found.push(`${path} writes to the console`);
  return found;
}

/** Files of `src/` whose values the console page may import; types may come from any file. */
const pageImports =
  /\/src\/(?:primitives\/(?!node\/)|protocol\/|tap\/(?:(?:to-curl|participants)\.ts$|translation\/)|dialects\/)/;

/** Returns the imports of the console page that are not allowed. */
function forbiddenPageImports({ path, text }: Source): string[] {
  const values = text.replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  return importsOf(values)
    .filter((specifier) => specifier.includes('/src/') && !pageImports.test(specifier))
    .map((specifier) => `${path} imports ${specifier}`);
}

/** Returns the names that several files declare and export, with the files. */
function repeatedExports(files: readonly Source[]): string[] {
  const declaration =
    /^export (?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) ([\w$]+)/gm;
  const homesOf = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    if (/^dialects\/v\d/.test(path)) continue;
    for (const [, name = ''] of text.matchAll(declaration))
      homesOf.set(name, (homesOf.get(name) ?? new Set()).add(path));
  }
  return [...homesOf]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
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

describe('source tree', () => {
  it('finds the source files', () => {
    expect(sources().length).toBeGreaterThan(80);
  });

  it('respects import directions, library homes, file names and file sizes', () => {
    expect(sources().flatMap(violations)).toEqual([]);
  });

  it('has exactly the folders of the import table', () => {
    const folders = new Set(sources().map(({ path }) => folderOf(path)));
    expect([...folders].sort()).toEqual(Object.keys(may).sort());
  });

  it('lets the console page import only types and few values of src/', () => {
    const page = sources('console/src');
    expect(page.length).toBeGreaterThan(50);
    expect(page.flatMap(forbiddenPageImports)).toEqual([]);
    const text = "import { serve } from '../../../../src/server/node.ts';";
    expect(forbiddenPageImports({ path: 'views/wire/state.ts', text })).toHaveLength(1);
  });

  it('exports every name from one file only, except in the parallel dialect folders', () => {
    expect(repeatedExports(sources())).toEqual([]);
    const text = 'export function once(): void {}';
    const [a, b] = ['client/a.ts', 'server/b.ts'].map((path) => ({ path, text }));
    expect(repeatedExports([a, b] as Source[])).toEqual(['once: client/a.ts, server/b.ts']);
  });

  it.each(['src', 'console/src', 'test/support'])('has at most 15 source files per folder of %s', (top) => {
    const counts = new Map<string, number>();
    for (const { path } of sources(top)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 15)).toEqual([]);
  });

  it('imports each listed library at least once', () => {
    const imported = new Set(sources().flatMap(({ text }) => importsOf(text).map(libraryOf)));
    expect(Object.keys(homes).filter((library) => !imported.has(library))).toEqual([]);
  });
});

describe('check of the source tree', () => {
  it.each<[string, string, string]>([
    ['an import of a higher layer', 'protocol/task.ts', "import { v1_0 } from '../dialects/v1_0/index.ts';"],
    [
      'a type import of a higher layer',
      'server/http/rest.ts',
      "import type { LocalAgent } from '../../engine/local-agent.ts';",
    ],
    ['a dynamic import', 'client/rest.ts', "const { serve } = await import('../server/node.ts');"],
    ['a re-export', 'dialects/index.ts', "export * from '../client/index.ts';"],
    ['an import over several lines', 'engine/run.ts', "import {\n  serve,\n} from '../server/node.ts';"],
    ['an import of the root', 'engine/run.ts', "import { serve } from '../index.ts';"],
    ['a Node import in a portable folder', 'dialects/choose.ts', "import { Buffer } from 'node:buffer';"],
    ['getBuiltinModule in a portable folder', 'protocol/part.ts', "process.getBuiltinModule('node:fs')"],
    ['a library outside of its folder', 'server/node.ts', "import { Agent } from 'undici';"],
    ['an unlisted library', 'engine/run.ts', "import express from 'express';"],
    ['a side-effect import', 'engine/run.ts', "import 'commander';"],
    ['an unlisted folder', 'misc/thing.ts', ''],
    ['a file named utils', 'engine/string-utils.ts', ''],
    ['a file named helpers', 'client/helpers.ts', ''],
    ['a file named options', 'client/options.ts', ''],
    ['a file of 401 lines', 'engine/run.ts', 'x;\n'.repeat(401)],
    ['the word legacy', 'server/card.ts', 'const isLegacy = true;'],
    ['console output', 'engine/run.ts', "console.log('here');"],
  ])('reports %s', (_what, path, text) => {
    expect(violations({ path, text })).toHaveLength(1);
  });

  it.each<[string, string, string]>([
    [
      'an import of a lower layer',
      'server/http/rest.ts',
      "import type { Agent } from '../protocol/agent.ts';",
    ],
    ['an import within the folder', 'client/bindings/rest.ts', "import { x } from '../http/http.ts';"],
    ['a library in its folder', 'cli/summary.ts', "import picocolors from 'picocolors';"],
    ['console output in the command', 'cli/main.ts', 'console.log(1);'],
    ['console output in a comment', 'engine/run.ts', '/** @example console.log(1) */'],
    ['a file of 400 lines', 'engine/run.ts', 'x;\n'.repeat(400)],
  ])('allows %s', (_what, path, text) => {
    expect(violations({ path, text })).toEqual([]);
  });
});
