import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import tsconfig from '../tsconfig.json' with { type: 'json' };
import { v0_1 } from '../src/dialects/v0_1/index.ts';
import { v0_3 } from '../src/dialects/v0_3/index.ts';
import { A2AError, errorTable, type ErrorReason } from '../src/protocol/errors.ts';
import { runNode, repositoryRoot } from './support/cli/run-command.ts';
import {
  headingAnchors,
  type DocCodeBlock,
  codeBlocksOf,
  documentationPages,
  readPage,
} from './support/docs/code-blocks.ts';

/** Type-checks code against the declarations in dist/, imported by their package subpaths. */
async function typeCheck(fences: readonly DocCodeBlock[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-docs-'));
  try {
    const paths: { [name: string]: string[] } = Object.fromEntries(
      Object.entries(tsconfig.compilerOptions.paths).map(([name, [file = '']]) => [
        name,
        [join(repositoryRoot, file)],
      ]),
    );
    for (const [subpath, target] of Object.entries(packageJson.exports)) {
      if (typeof target === 'string') continue;
      paths[subpath.replace(/^\./, 'dragoman')] = [join(repositoryRoot, target.types)];
    }
    // JavaScript examples are checked without type annotations.
    const check = async (language: string, noImplicitAny: boolean): Promise<string> => {
      const chosen = fences.filter((fence) => fence.language === language);
      if (chosen.length === 0) return '';
      const files = chosen.map((fence, index) => {
        const file = `${language}-${index}.ts`;
        writeFileSync(join(folder, file), `export {};\n${fence.code}`);
        return { file, at: `${fence.page}:${fence.line}` };
      });
      const config = {
        extends: join(repositoryRoot, 'tsconfig.json'),
        compilerOptions: {
          paths,
          noImplicitAny,
          noUnusedLocals: false,
          skipLibCheck: true,
          typeRoots: [join(repositoryRoot, 'node_modules', '@types')],
        },
        include: [],
        files: files.map(({ file }) => file),
      };
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      // For other libraries, such as vitest.
      if (!existsSync(join(folder, 'node_modules')))
        symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, `${language}.json`), JSON.stringify(config));
      const compiler = join(repositoryRoot, 'node_modules/ts7/bin/tsc');
      let { stdout } = await runNode([compiler, '-p', `${language}.json`], { cwd: folder }).ended;
      for (const { file, at } of files) stdout = stdout.replaceAll(file, at);
      return stdout;
    };
    return (await check('ts', true)) + (await check('js', false));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Generates docs/reference/errors.md from the error table and the dialects. */
function errorPage(): string {
  const code = (dialect: typeof v0_3, reason: ErrorReason) =>
    dialect.rpcError.write(new A2AError(reason)).code;
  const rows = (Object.keys(errorTable) as ErrorReason[]).map((reason) => {
    const { rpc, http, grpc, text } = errorTable[reason];
    return `| \`${reason}\` | ${rpc} | ${code(v0_3, reason)} | ${code(v0_1, reason)} | ${http} | ${grpc} | ${text} |`;
  });
  return `# Errors

Every operation rejects with an \`A2AError\`. Its \`reason\` is one of these and does not change between releases; its message
may. \`violations\` lists invalid fields, \`details\` contains data for programs, \`cause\` the original error, and \`hint\` the fix for
a human reader. Causes and hints are never sent to a peer.

| reason | JSON-RPC 1.0 | 0.3 | 0.1 | HTTP | gRPC | message |
|---|---|---|---|---|---|---|
${rows.join('\n')}

Over JSON-RPC the HTTP status of an error is 200, except for 401, 403, 413, 429 and 503, which intermediaries need.

\`npx vitest run test/docs.test.ts -u\` generates this page from the table in \`src/protocol/errors.ts\`.
`;
}

describe('documentation', () => {
  // The API reference contains declarations, not programs.
  const fences = documentationPages()
    .filter((page) => !page.startsWith(join('docs', 'reference', 'api')))
    .flatMap(codeBlocksOf);

  it('contains code that type-checks', async () => {
    await runNode([join(repositoryRoot, 'scripts/build.mjs'), '--if-stale']).ended;
    expect(fences.filter(({ language }) => language === 'ts' || language === 'js').length).toBeGreaterThan(
      12,
    );
    // Code with relative imports, and the examples of tests, are run by other tests.
    const isExample = ({ page, code }: DocCodeBlock) =>
      /from '\.\//.test(code) ||
      (page === join('docs', 'guide', 'testing.md') && code.includes('dragoman/testkit'));
    expect(await typeCheck(fences.filter((each) => !isExample(each)))).toBe('');
  }, 120_000);

  it('reports type errors with page and line', async () => {
    const wrong = (language: string, code: string): DocCodeBlock => ({
      page: 'x.md',
      line: 7,
      language,
      code,
    });
    const found = await typeCheck([
      wrong('ts', "import { conect } from 'dragoman';"),
      wrong('js', "import { memoryTaskStore } from 'dragoman';\nmemoryTaskStore({ maxTasks: 'many' });"),
    ]);
    expect(found).toMatch(/x\.md:7\(2,10\): error TS2\d+: .*conect/);
    expect(found).toMatch(/x\.md:7\(3,19\): error TS2322/);
  }, 120_000);

  it('uses known languages for code blocks', () => {
    const known = new Set(['js', 'json', 'ts', 'sh', 'text', 'yaml']);
    const unknown = fences.filter(({ language }) => !known.has(language));
    expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('contains valid YAML and JSON', () => {
    const chosen = (language: string) => fences.filter((fence) => fence.language === language);
    expect(chosen('yaml').length).toBeGreaterThan(10);
    for (const { code, page, line } of chosen('yaml'))
      expect(() => parse(code) as unknown, `${page}:${line}`).not.toThrow();
    for (const { code, page, line } of chosen('json'))
      expect(() => JSON.parse(code) as unknown, `${page}:${line}`).not.toThrow();
  });

  it.each(documentationPages())('%s has no broken links', (page) => {
    const links = [...readPage(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)];
    const local = links.filter(([, target = '']) => !/^[a-z]+:/.test(target));
    const dead = local.filter(([, target = '', anchor]) => {
      const path = target === '' ? page : join(dirname(page), target);
      if (!existsSync(join(repositoryRoot, path))) return true;
      return anchor !== undefined && path.endsWith('.md') && !headingAnchors(readPage(path)).has(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  it('is reachable from docs/README.md', () => {
    const found = new Set([join('docs', 'README.md')]);
    for (const page of found)
      for (const [, target = ''] of readPage(page).matchAll(/\]\(([^)#\s:]+\.md)/g))
        found.add(join(dirname(page), target));
    expect(documentationPages().filter((page) => page.startsWith('docs') && !found.has(page))).toEqual([]);
  });

  it('has an up-to-date table of errors', async () => {
    await expect(errorPage()).toMatchFileSnapshot('../docs/reference/errors.md');
  });
});

describe('paths on the code maps', () => {
  it.each(['AGENTS.md', 'docs/glossary.md', 'docs/architecture.md', 'docs/request-lifecycle.md'])(
    'exist: %s',
    (page) => {
      const text = readPage(page).replaceAll(/^```[^]*?^```/gm, '');
      const paths = [...text.matchAll(/`((?:[\w.-]+\/)+(?:[\w-]+\.(?:ts|tsx|json|mjs))?)`/g)].map(
        ([, path = '']) => path,
      );
      expect(paths.length).toBeGreaterThan(5);
      const isMissing = (path: string) =>
        !path.includes('vX') && // a placeholder
        !['', 'src', 'console/src'].some((top) => existsSync(join(repositoryRoot, top, path)));
      expect(paths.filter(isMissing)).toEqual([]);
    },
  );
});
