/** A browser without scripts: it keeps cookies, follows redirects and submits forms. */
export class FormBrowser {
  readonly #cookies = new Map<string, string>();
  readonly #fields: Readonly<Record<string, string>>;

  /** @param fields - what the user enters, by the name of the field */
  constructor(fields: Readonly<Record<string, string>>) {
    this.#fields = fields;
  }

  /** Opens a page and submits its form, and those of the pages that follow. @returns the text of the last page */
  async open(start: string): Promise<string> {
    let url = start;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 20; step++) {
      const response = await this.#request(url, form);
      form = undefined;
      const location = response.headers.get('location');
      if (location !== null) {
        await response.arrayBuffer();
        url = new URL(location, url).href;
        continue;
      }
      const text = await response.text();
      if (!response.ok) throw new Error(`HTTP ${response.status} at ${url}: ${text}`);
      const page = /<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(text);
      if (!page) return text;
      url = new URL(page[1] ?? '', url).href;
      form = this.#fill(page[2] ?? '');
    }
    throw new Error(`Too many pages after ${start}`);
  }

  #request(url: string, form: URLSearchParams | undefined): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    }).then((response) => {
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
        if (value === '') this.#cookies.delete(name);
        else this.#cookies.set(name, value);
      }
      return response;
    });
  }

  #fill(html: string): URLSearchParams {
    const form = new URLSearchParams();
    for (const [input] of html.matchAll(/<input[^>]*>/g)) {
      const [, name] = /\bname="([^"]*)"/.exec(input) ?? [];
      if (name === undefined) continue;
      const [, value = ''] = /\bvalue="([^"]*)"/.exec(input) ?? [];
      form.set(name, this.#fields[name] ?? value);
    }
    return form;
  }
}
