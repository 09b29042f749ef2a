import { type Browser, chromium } from 'playwright-core';
import { findSystemProgram } from '../process/system-program.ts';

/** Starts Chromium, or prints why its tests are skipped. The caller closes the browser. */
export async function launchChromium(): Promise<Browser | undefined> {
  const executablePath = findSystemProgram('chromium');
  if (executablePath === undefined) {
    console.log('skipped: chromium is not installed');
    return undefined;
  }
  // The sandbox of Chromium does not start as root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
