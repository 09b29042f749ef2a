import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/console/chromium.ts';
import { accessibilityViolations } from './accessibility.ts';
import { UpConsole } from './page.ts';

const browser: Browser | undefined = await launchChromium();

describe.skipIf(!browser)('console page', () => {
  let upConsole: UpConsole;
  beforeAll(async () => {
    upConsole = await UpConsole.open(browser as Browser);
  });
  afterAll(async () => {
    await upConsole?.close();
    await browser?.close();
  });

  for (const scheme of ['light', 'dark'] as const)
    it(`has no serious accessibility violations in ${scheme} mode`, {
      timeout: 120_000,
    }, async () => {
      await upConsole.page.emulateMedia({ colorScheme: scheme });
      for (const view of [
        'Agents',
        'Catalog',
        'Chat',
        'Requests',
        'Traffic',
        'Tasks',
        'Conformance',
        'Load',
      ]) {
        await upConsole.show(view);
        // Only the colors differ in dark mode.
        const rules = scheme === 'light' ? undefined : ['color-contrast'];
        expect(await accessibilityViolations(upConsole.page, rules), view).toEqual([]);
      }
    });

  it('is tested by rules that report a button without a name and a text without contrast', async () => {
    await upConsole.page.emulateMedia({ colorScheme: 'light' });
    await upConsole.page.evaluate(`
      document.querySelector('main').append(document.createElement('button'));
      const pale = document.querySelector('main').appendChild(document.createElement('p'));
      pale.textContent = 'pale';
      Object.assign(pale.style, { color: '#ddd', background: '#fff' });
    `);
    const found = await accessibilityViolations(upConsole.page);
    expect(found.map((violation) => violation.split(':')[0])).toEqual(['button-name', 'color-contrast']);
  });

  it('is tested in the colors after transitions, also if a transition replaces another one', async () => {
    await upConsole.page.reload();
    await upConsole.page.evaluate(`{
      const text = document.body.appendChild(document.createElement('p'));
      text.textContent = 'pale at first';
      Object.assign(text.style, { color: '#ddd', background: '#fff' });
      text.computedStyleMap().get('color');
      Object.assign(text.style, { transition: 'color 600s', color: '#000' });
      setTimeout(() => void (text.style.color = '#111'), 20);
    }`);
    expect(await accessibilityViolations(upConsole.page, ['color-contrast'])).toEqual([]);
  });
});
