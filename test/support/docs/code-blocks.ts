import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../cli/run-command.ts';

/** A fenced code block of a documentation page. */
export interface DocCodeBlock {
  /** The path of the page, relative to the repository root. */
  page: string;
  line: number;
  language: string;
  code: string;
}

/** Returns the Markdown files in the repository root and in `docs/`. */
export function documentationPages(): string[] {
  const docs = (readdirSync(join(repositoryRoot, 'docs'), { recursive: true }) as string[]).map((each) =>
    join('docs', each),
  );
  return [...readdirSync(repositoryRoot), ...docs].filter((path) => path.endsWith('.md')).sort();
}

export function readPage(page: string): string {
  return readFileSync(join(repositoryRoot, page), 'utf8');
}

/** Returns the fenced code blocks of a page. */
export function codeBlocksOf(page: string): DocCodeBlock[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language,
    code,
  }));
}

/** Returns the anchors that GitHub generates for the headings of a page. */
export function headingAnchors(text: string): Set<string> {
  const counts = new Map<string, number>();
  return new Set(
    [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-');
      const previous = counts.get(slug) ?? 0;
      counts.set(slug, previous + 1);
      return previous === 0 ? slug : `${slug}-${previous}`;
    }),
  );
}
