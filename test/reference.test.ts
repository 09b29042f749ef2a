import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { headingAnchors, documentationPages, readPage } from './support/docs/code-blocks.ts';

const folder = 'docs/reference/api';

describe('API reference', () => {
  it('has and links a page for every package export', () => {
    const subpaths = Object.keys(packageJson.exports).filter((each) => each !== './package.json');
    const names = subpaths.map((each) =>
      each === '.' ? 'root.md' : `${each.slice(2).replaceAll('/', '-')}.md`,
    );
    const index = readPage(`${folder}/README.md`);
    expect([...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => page)).toEqual(names);
    expect(documentationPages().filter((page) => dirname(page) === folder)).toHaveLength(names.length + 1);
  });

  it('has no broken links', () => {
    const own = documentationPages().filter((page) => dirname(page) === folder);
    const anchors = new Map(own.map((page) => [page, headingAnchors(readPage(page))]));
    const dead = own.flatMap((page) => {
      const links = readPage(page).matchAll(/(?:\]\(|href=")([\w-]*(?:\.md)?)#([\w-]+)/g);
      return [...links]
        .filter(([, to = '', anchor = '']) => {
          const target = to === '' ? page : join(folder, to);
          return !anchors.get(target)?.has(anchor);
        })
        .map(([link]) => `${page}: ${link}`);
    });
    expect(dead).toEqual([]);
  });
});
