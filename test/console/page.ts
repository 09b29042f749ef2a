import type { Browser, BrowserContext, Page } from 'playwright-core';
import { dragoman, type Running } from '../support/command.ts';

/** What `dragoman up -o json` says, as far as the page is concerned. */
export interface Told {
  console: string;
  gateway: string;
  agents: { name: string; url: string; from: string }[];
}

/** Everything that `npm start` starts, and a browser that looks at it. */
export class Stage {
  readonly told: Told;
  readonly page: Page;
  /** What the page complained about, and whom it asked beside its own server. */
  readonly complaints: string[] = [];
  readonly strangers: string[] = [];
  readonly #up: Running;
  readonly #context: BrowserContext;

  private constructor(up: Running, told: Told, context: BrowserContext, page: Page) {
    this.#up = up;
    this.told = told;
    this.#context = context;
    this.page = page;
    const { origin } = new URL(told.console);
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && url.protocol !== 'blob:' && url.protocol !== 'data:')
        this.strangers.push(request.url());
    });
  }

  static async open(browser: Browser): Promise<Stage> {
    const up = dragoman(['up', '-o', 'json']);
    const [line] = await up.prints(/^\{.*\}\n/);
    const told = JSON.parse(line) as Told;
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      acceptDownloads: true,
    });
    const stage = new Stage(up, told, context, await context.newPage());
    await stage.page.goto(told.console);
    await stage.page
      .getByRole('link', { name: /^Caravan/ })
      .first()
      .waitFor();
    return stage;
  }

  /** Goes to a view by its tab. */
  async show(view: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
    await this.page.getByRole('main', { name: view }).waitFor();
  }

  /** Chooses the agent at a URL among those of the list. */
  async choose(url: string): Promise<void> {
    await this.show('Agents');
    await this.page.getByRole('complementary').getByRole('link', { name: url }).click();
    await this.page.getByRole('region').getByText(url).first().waitFor();
  }

  /** Adds an agent by its URL. */
  async add(url: string): Promise<void> {
    await this.show('Agents');
    await this.page.getByRole('button', { name: 'Add', exact: true }).click();
    const dialog = this.page.getByRole('dialog');
    await dialog.getByRole('textbox').first().fill(url);
    await dialog.getByRole('textbox').first().press('Enter');
    await this.page.getByRole('complementary').getByRole('link', { name: url }).waitFor();
  }

  /** Says something in the chat, and waits for the task to come into a state. */
  async say(text: string, state: string): Promise<void> {
    const box = this.page.getByRole('textbox', { name: 'Message' });
    await box.fill(text);
    await box.press('Enter');
    await this.page
      .getByRole('complementary', { name: 'Conversations' })
      .getByRole('listitem')
      .first()
      .getByText(state)
      .waitFor();
  }

  async close(): Promise<void> {
    await this.#context.close();
    await this.#up.stop('SIGINT');
  }
}
