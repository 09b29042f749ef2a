import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { htmlReportScript, htmlReportStyle } from '../conformance/report/html-style.ts';
import { A2AError } from '../protocol/errors.ts';

/** A file of the page. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly headers: readonly string[];
}

/** Beside this module where it is compiled; for the sources, where the build puts it. */
const places = ['./page/', '../../dist/console/page/'];

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json',
};

/** Names that begin with a dot lead elsewhere or are nobody's business. */
const safePath = /^(?:\w[\w.-]*\/)*\w[\w.-]*$/;

/** The page of the console, as it was built. */
export class StaticPage {
  readonly #folder: URL;

  /** @throws {@link A2AError} `UNAVAILABLE` where it was not built. */
  constructor() {
    const folder = places
      .map((each) => new URL(each, import.meta.url))
      .find((each) => existsSync(new URL('index.html', each)));
    if (!folder)
      throw new A2AError('UNAVAILABLE', 'The page of the console is not built', {
        hint: 'Run `npm run build`.',
      });
    this.#folder = folder;
  }

  /** A file by the path of its address, still percent-encoded; undefined where there is none. */
  async file(path: string): Promise<PageFile | undefined> {
    const name = path === '/' ? 'index.html' : path.slice(1);
    const type = types[extname(name)];
    if (!safePath.test(name) || type === undefined) return undefined;
    try {
      const bytes = await readFile(fileURLToPath(new URL(name, this.#folder)));
      // What is in assets/ has a digest of itself in its name.
      const keep = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      return { bytes, headers: ['Content-Type', type, 'Cache-Control', keep] };
    } catch {
      return undefined;
    }
  }
}

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * What the page may do: nothing that comes from elsewhere. A report of conformance is shown in a frame, which is bound
 * by the policy of the page too, so its one style and script are named by their digests.
 */
const policy = [
  "default-src 'none'",
  `script-src 'self' ${digest(htmlReportScript)}`,
  `style-src 'self' ${digest(htmlReportStyle)}`,
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "font-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of everything that the console answers. */
export const securityHeaders: readonly string[] = [
  'Content-Security-Policy',
  policy,
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];
