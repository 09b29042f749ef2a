import type { Browser } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { collectStream } from '../support/collect-stream.ts';
import { runDragoman } from '../support/cli/run-command.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { startSampleAgent } from '../support/tap/start-tap.ts';
import { Tab } from './tab.ts';

const browser: Browser | undefined = await launchChromium();
const open = closeAfterEach();
afterAll(() => browser?.close());

describe.skipIf(!browser)('traffic view', () => {
  it('shows messages of gRPC beside their translation', async () => {
    const tap = runDragoman(['tap', '--to', await startSampleAgent(open), '--port', '0', '--console']);
    open.push({ close: () => tap.stop('SIGINT') });
    const [, url = ''] = await tap.prints(/listening on (\S+)\n/);
    const [consoleUrl] = await tap.prints(/http:\/\/\S+token=[\w-]+/);
    await using client = connect(url, { transports: ['GRPC'] });
    await collectStream(client.stream('stream'));
    const tab = await Tab.at(browser as Browser, consoleUrl);
    open.push({ close: () => tab.close() });
    await tab.show('Traffic');
    const rows = tab.page.getByRole('listbox', { name: 'Timeline' });
    await rows
      .getByRole('option', { name: /artifact answer/ })
      .first()
      .click();
    const detail = tab.page.getByRole('region', { name: /^Record / });
    await detail.getByText('gRPC', { exact: true }).waitFor();
    await detail.getByRole('region', { name: 'Raw' }).getByText('"artifactUpdate"').waitFor();
    await detail.getByRole('region', { name: 'Decoded' }).getByText('artifactId').first().waitFor();
    await rows
      .getByRole('option', { name: /request stream: stream/ })
      .first()
      .click();
    await detail.getByRole('region', { name: 'Raw' }).getByText('SendStreamingMessage').waitFor();
    expect(await tab.page.getByRole('button', { name: 'Copy as curl' }).count()).toBe(0);
  });
});
