// Creates the console screenshots in docs/images/, light and dark: starts `dragoman up` and drives Chromium.
// Run it after `npm run build`. CHROMIUM is the path of the browser if it is not in a standard location.
import { spawn } from 'node:child_process';
import { chromium } from 'playwright-core';

const up = spawn(process.execPath, ['dist/cli/main.js', 'up', '--sessions', 'off', '-o', 'json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const info = await new Promise((resolve, reject) => {
  let text = '';
  up.stdout.setEncoding('utf8').on('data', (more) => {
    text += more;
    if (text.includes('\n')) resolve(JSON.parse(text.slice(0, text.indexOf('\n'))));
  });
  up.on('close', () => reject(new Error('dragoman up ended before it was ready')));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});

try {
  for (const scheme of ['light', 'dark']) await take(scheme);
} finally {
  await browser.close();
  up.kill('SIGINT');
}

async function take(scheme) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 740 }, colorScheme: scheme });
  const page = await context.newPage();
  const picture = (name) =>
    page.screenshot({ path: `docs/images/console-${name}-${scheme}.png`, animations: 'disabled' });
  const show = (view) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
  const choose = async (name) => {
    await show('Agents');
    const { url } = info.agents.find((each) => each.name === name);
    await page.getByRole('complementary').getByRole('link', { name: url }).click();
    await page.getByRole('article', { name: 'Card of version 0.1' }).waitFor();
  };
  const say = async (text, state) => {
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill(text);
    await box.press('Enter');
    await page.getByRole('complementary').getByRole('listitem').first().getByText(state).waitFor();
  };

  await page.goto(info.console);
  await choose('caravan');
  await picture('agents');

  await show('Chat');
  await say('book Samarkand', 'input-required');
  await say('Friday', 'completed');
  await page.getByText('your camel is waiting').first().waitFor();
  await picture('chat');

  await show('Requests');
  await page.getByRole('combobox', { name: 'Operation' }).selectOption('stream');
  await page.getByRole('textbox', { name: 'Part 1: Text' }).fill('timetable');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The stream ended').waitFor();
  await picture('requests');

  await show('Chat');
  await page.getByRole('link', { name: 'Show traffic' }).last().click();
  const rows = page.getByRole('listbox', { name: 'Timeline' });
  await rows
    .getByRole('option', { name: /caravan to gateway, .*ticket/ })
    .first()
    .click();
  await page.getByRole('table', { name: 'Translation' }).waitFor();
  await picture('traffic');

  await choose('interpreter');
  await show('Chat');
  await say('phrasebook Italian', 'completed');
  await show('Tasks');
  await page
    .getByRole('link', { name: /^[0-9a-f]{8}-/ })
    .first()
    .click();
  await page.getByRole('cell', { name: 'buongiorno' }).first().waitFor();
  await picture('tasks');

  await show('Conformance');
  await page.getByRole('combobox', { name: 'Rules' }).selectOption({ label: 'MUST only' });
  const editor = page.getByRole('dialog', { name: /^Messages for/ });
  await page.getByRole('button', { name: /^Messages/ }).click();
  await editor.getByRole('textbox', { name: /^artifact/ }).fill('phrasebook Italian');
  await editor.getByRole('button', { name: 'Try artifact' }).click();
  await editor.getByRole('status').filter({ hasText: 'completed' }).waitFor();
  await picture('messages');
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Run tests' }).click();
  await page.getByRole('region', { name: 'Progress' }).waitFor();
  await page.getByRole('region', { name: 'Progress' }).waitFor({ state: 'detached', timeout: 300_000 });
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().click();
  await picture('conformance');

  await show('Catalog');
  await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
  await picture('catalog');

  await show('Load');
  await page.getByRole('tab', { name: 'Load run' }).click();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('button', { name: 'Start' }).waitFor({ timeout: 120_000 });
  await page.getByRole('main').getByText(/p99/).first().waitFor();
  await picture('load');
  await context.close();
}
