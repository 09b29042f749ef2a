import type { Browser, BrowserContext, Page } from 'playwright-core';
import { runDragoman, type RunningCommand } from '../support/cli/run-command.ts';
import { Tab } from './tab.ts';

/** Output of `dragoman up -o json` that the tests use. */
export interface UpInfo {
  console: string;
  gateway: string;
  agents: { name: string; url: string; from: string }[];
}

/** A running `dragoman up` with a browser tab on its console. */
export class UpConsole extends Tab {
  readonly info: UpInfo;
  readonly #up: RunningCommand;

  private constructor(up: RunningCommand, info: UpInfo, context: BrowserContext, page: Page) {
    super(context, page, new URL(info.console).origin);
    this.#up = up;
    this.info = info;
  }

  static async open(browser: Browser): Promise<UpConsole> {
    const up = runDragoman(['up', '-o', 'json']);
    const [line] = await up.prints(/^\{.*\}\n/);
    const info = JSON.parse(line) as UpInfo;
    const { context, page } = await Tab.newPage(browser);
    const upConsole = new UpConsole(up, info, context, page);
    await page.goto(info.console);
    await page
      .getByRole('link', { name: /^Caravan/ })
      .first()
      .waitFor();
    return upConsole;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#up.stop('SIGINT');
  }
}
