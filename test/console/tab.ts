import type { Browser, BrowserContext, Page } from 'playwright-core';

/** A browser tab with the console page, and the actions of a user. */
export class Tab {
  readonly page: Page;
  /** Errors in the browser console. */
  readonly pageErrors: string[] = [];
  /** Requests to other servers. */
  readonly foreignRequests: string[] = [];
  readonly #context: BrowserContext;

  protected constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error') this.pageErrors.push(message.text());
    });
    page.on('pageerror', (error) => this.pageErrors.push(error.message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && url.protocol !== 'blob:' && url.protocol !== 'data:')
        this.foreignRequests.push(request.url());
    });
  }

  /** Opens the printed URL of a console. */
  static async at(browser: Browser, url: string): Promise<Tab> {
    const { context, page } = await Tab.newPage(browser);
    const tab = new Tab(context, page, new URL(url).origin);
    await page.goto(url);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    return tab;
  }

  protected static async newPage(browser: Browser): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // Shorter than the test timeout, so that the failed step is reported.
    context.setDefaultTimeout(100_000);
    return { context, page: await context.newPage() };
  }

  /** Opens a view. */
  async show(view: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
    await this.page.getByRole('main', { name: view }).waitFor();
  }

  /** Selects an agent by its URL. */
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

  /** Sends a chat message and waits for a task state. */
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
  }
}
