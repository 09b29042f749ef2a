import { spawn } from 'node:child_process';

const openers: { readonly [platform: string]: string } = { darwin: 'open', win32: 'explorer' };

/** Opens a URL in the browser. Ignores errors, because the URL is printed as well. */
export function openInBrowser(url: string): void {
  const child = spawn(openers[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
