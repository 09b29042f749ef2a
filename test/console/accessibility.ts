import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Colors change gradually after the color scheme has changed: their contrast is that of the end. */
const transitionsEnd = `Promise.all(
  document.getAnimations()
    .filter((each) => each instanceof CSSTransition)
    .map((each) => each.finished.catch(() => undefined)),
).then(() => undefined)`;

/** Returns serious and critical axe violations with their elements. */
export async function accessibilityViolations(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(transitionsEnd);
  // The legacy mode opens no second page for the results; it leaves out frames of other origins, and the console has none.
  const axe = new AxeBuilder({ page: page as never })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
