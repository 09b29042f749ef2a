import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../cli/run-command.ts';

/** A piece of code in a page. */
export interface DocCodeBlock {
  /** The page, below the root of the checkout. */
  page: string;
  line: number;
  language: string;
  code: string;
}

/** Every page that people read. */
export function documentationPages(): string[] {
  const docs = (readdirSync(join(repositoryRoot, 'docs'), { recursive: true }) as string[]).map((each) =>
    join('docs', each),
  );
  return [...readdirSync(repositoryRoot), ...docs].filter((path) => path.endsWith('.md')).sort();
}

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(repositoryRoot, page), 'utf8');
}

/** The fenced code of a page. */
export function codeBlocksOf(page: string): DocCodeBlock[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language,
    code,
  }));
}

/** The names of the headings of a page, as GitHub makes them. */
export function headingAnchors(text: string): Set<string> {
  const counts = new Map<string, number>();
  return new Set(
    [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-');
      const before = counts.get(slug) ?? 0;
      counts.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
}
