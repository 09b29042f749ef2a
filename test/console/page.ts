import type { Browser, BrowserContext, Page } from 'playwright-core';
import { runDragoman, type RunningCommand } from '../support/cli/run-command.ts';
import { Tab } from './tab.ts';

/** What `dragoman up -o json` says, as far as the page is concerned. */
export interface Told {
  console: string;
  gateway: string;
  agents: { name: string; url: string; from: string }[];
}

/** Everything that `npm start` starts, and a browser that looks at it. */
export class Stage extends Tab {
  readonly told: Told;
  readonly #up: RunningCommand;

  private constructor(up: RunningCommand, told: Told, context: BrowserContext, page: Page) {
    super(context, page, new URL(told.console).origin);
    this.#up = up;
    this.told = told;
  }

  static async open(browser: Browser): Promise<Stage> {
    const up = runDragoman(['up', '-o', 'json']);
    const [line] = await up.prints(/^\{.*\}\n/);
    const told = JSON.parse(line) as Told;
    const { context, page } = await Tab.newPage(browser);
    const stage = new Stage(up, told, context, page);
    await page.goto(told.console);
    await page
      .getByRole('link', { name: /^Caravan/ })
      .first()
      .waitFor();
    return stage;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#up.stop('SIGINT');
  }
}
