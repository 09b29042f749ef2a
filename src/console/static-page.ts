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

/** Directories of the built page, relative to the compiled module and to the source module. */
const directories = ['./page/', '../../dist/console/page/'];

const mediaTypes: { readonly [extension: string]: string } = {
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

/** Matches paths without segments that start with a dot, such as `..` and hidden files. */
const safePath = /^(?:\w[\w.-]*\/)*\w[\w.-]*$/;

/** Static files of the console page. */
export class StaticPage {
  readonly #directory: URL;

  /** @throws {@link A2AError} `UNAVAILABLE` if the page was not built. */
  constructor() {
    const directory = directories
      .map((each) => new URL(each, import.meta.url))
      .find((each) => existsSync(new URL('index.html', each)));
    if (!directory)
      throw new A2AError('UNAVAILABLE', 'The console page is not built', {
        hint: 'Run `npm run build`.',
      });
    this.#directory = directory;
  }

  /** Returns the file of a percent-encoded URL path, or undefined. */
  async file(path: string): Promise<PageFile | undefined> {
    const name = path === '/' ? 'index.html' : path.slice(1);
    const type = mediaTypes[extname(name)];
    if (!safePath.test(name) || type === undefined) return undefined;
    try {
      const bytes = await readFile(fileURLToPath(new URL(name, this.#directory)));
      // Names in assets/ contain a content hash.
      const cacheControl = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      return { bytes, headers: ['Content-Type', type, 'Cache-Control', cacheControl] };
    } catch {
      return undefined;
    }
  }
}

const cspHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Content security policy: no content from other origins. The conformance report in a frame inherits the policy, so its
 * style and script are allowed by their hashes.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' ${cspHash(htmlReportScript)}`,
  `style-src 'self' ${cspHash(htmlReportStyle)}`,
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "font-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of all responses of the console. */
export const securityHeaders: readonly string[] = [
  'Content-Security-Policy',
  contentSecurityPolicy,
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];
