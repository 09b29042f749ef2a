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
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  // A name of a foreign site that resolves to this machine, as after DNS rebinding.
  const args = [...sandbox, '--host-resolver-rules=MAP *.example 127.0.0.1'];
  return chromium.launch({ executablePath, args });
}
