import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
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

/** Checks code against the sources, as a program outside would import them. */
async function typeCheck(fences: readonly DocCodeBlock[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-docs-'));
  try {
    const paths: { [name: string]: string[] } = {};
    for (const [subpath, target] of Object.entries(packageJson.exports)) {
      if (typeof target === 'string') continue;
      const source = target.default.replace('./dist/', 'src/').replace(/js$/, 'ts');
      paths[subpath.replace(/^\./, 'dragoman')] = [join(repositoryRoot, source)];
    }
    // What is written as JavaScript must be right, but need not say all its types.
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
          typeRoots: [join(repositoryRoot, 'node_modules', '@types')],
        },
        include: [],
        files: files.map(({ file }) => file),
      };
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      // For what programs import beside us, such as vitest.
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

/** The page of errors, out of the table and the dialects. */
function errorPage(): string {
  const code = (dialect: typeof v0_3, reason: ErrorReason) =>
    dialect.rpcError.write(new A2AError(reason)).code;
  const rows = (Object.keys(errorTable) as ErrorReason[]).map((reason) => {
    const { rpc, http, grpc, text } = errorTable[reason];
    return `| \`${reason}\` | ${rpc} | ${code(v0_3, reason)} | ${code(v0_1, reason)} | ${http} | ${grpc} | ${text} |`;
  });
  return `# Errors

Every operation rejects with an \`A2AError\`. Its \`reason\` is one of these and does not change between releases; its message
is for people and may. \`violations\` names the fields that are wrong, \`details\` has facts for programs, \`cause\` what a
stranger threw, and \`hint\` what a person can do about it. Causes and hints are never sent to a peer.

| reason | JSON-RPC 1.0 | 0.3 | 0.1 | HTTP | gRPC | says |
|---|---|---|---|---|---|---|
${rows.join('\n')}

Over JSON-RPC the HTTP status is 200 whatever the error, except for 401, 403, 413, 429 and 503, which are for those on the
way as well.

This page is made from the table in \`src/protocol/errors.ts\`: \`npx vitest run test/docs.test.ts -u\` writes it anew.
`;
}

describe('the pages', () => {
  // The reference shows declarations, which are made from the sources and no programs.
  const fences = documentationPages()
    .filter((page) => !page.startsWith(join('docs', 'reference', 'api')))
    .flatMap(codeBlocksOf);

  it('show code that fits the sources', async () => {
    expect(fences.filter(({ language }) => language === 'ts' || language === 'js').length).toBeGreaterThan(
      12,
    );
    // What imports a file beside it is an example, and compared with the file that is run.
    expect(await typeCheck(fences.filter(({ code }) => !/from '\.\//.test(code)))).toBe('');
  }, 120_000);

  it('would be caught showing code that does not', async () => {
    const wrong = (language: string, code: string): DocCodeBlock => ({
      page: 'x.md',
      line: 7,
      language,
      code,
    });
    const found = await typeCheck([
      wrong('ts', "import { conect } from 'dragoman';"),
      wrong('js', "import { memoryLedger } from 'dragoman';\nmemoryLedger({ maxTasks: 'many' });"),
    ]);
    expect(found).toMatch(/x\.md:7\(2,10\): error TS2\d+: .*conect/);
    expect(found).toMatch(/x\.md:7\(3,16\): error TS2322/);
  }, 120_000);

  it('mark their code with a language that is checked or that is no code of ours', () => {
    const known = new Set(['js', 'json', 'ts', 'sh', 'text', 'yaml']);
    const unknown = fences.filter(({ language }) => !known.has(language));
    expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('show YAML and JSON that can be read', () => {
    const chosen = (language: string) => fences.filter((fence) => fence.language === language);
    expect(chosen('yaml').length).toBeGreaterThan(10);
    for (const { code, page, line } of chosen('yaml'))
      expect(() => parse(code) as unknown, `${page}:${line}`).not.toThrow();
    for (const { code, page, line } of chosen('json'))
      expect(() => JSON.parse(code) as unknown, `${page}:${line}`).not.toThrow();
  });

  it.each(documentationPages())('%s links to what is there', (page) => {
    const links = [...readPage(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)];
    const local = links.filter(([, target = '']) => !/^[a-z]+:/.test(target));
    const dead = local.filter(([, target = '', anchor]) => {
      const path = target === '' ? page : join(dirname(page), target);
      if (!existsSync(join(repositoryRoot, path))) return true;
      return anchor !== undefined && path.endsWith('.md') && !headingAnchors(readPage(path)).has(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  it('are all led to from the first page of the documentation', () => {
    const found = new Set([join('docs', 'README.md')]);
    for (const page of found)
      for (const [, target = ''] of readPage(page).matchAll(/\]\(([^)#\s:]+\.md)/g))
        found.add(join(dirname(page), target));
    expect(documentationPages().filter((page) => page.startsWith('docs') && !found.has(page))).toEqual([]);
  });

  it('have a table of errors that is up to date', async () => {
    await expect(errorPage()).toMatchFileSnapshot('../docs/reference/errors.md');
  });
});
