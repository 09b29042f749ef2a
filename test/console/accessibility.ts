import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/**
 * Ends the transitions of colors that a new color scheme has started, and prevents later ones: contrast is that of the end. A
 * transition may also be replaced while a test waits for its end, for example when the element under the mouse changes.
 */
const withoutTransitions = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, *::before, *::after { transition: none !important }');
  document.adoptedStyleSheets = [sheet];
}`;

/** Returns serious and critical axe violations with their elements. */
export async function accessibilityViolations(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(withoutTransitions);
  // The legacy mode opens no second page for the results; it leaves out frames of other origins, and the console has none.
  const axe = new AxeBuilder({ page: page as never })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
