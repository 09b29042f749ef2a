import type { Browser, BrowserContext, Page } from 'playwright-core';

/** A tab of a browser that shows a console, and what people do there. */
export class Tab {
  readonly page: Page;
  /** What the page complained about, and whom it asked beside its own server. */
  readonly complaints: string[] = [];
  readonly strangers: string[] = [];
  readonly #context: BrowserContext;

  protected constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
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

  /** Opens the address of a console that was printed. */
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
    // Less than a test may take, so that it is said what was waited for.
    context.setDefaultTimeout(20_000);
    return { context, page: await context.newPage() };
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
  }
}
