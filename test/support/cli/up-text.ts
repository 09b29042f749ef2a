import packageJson from '../../../package.json' with { type: 'json' };
import { runDragoman } from './run-command.ts';

/** Replaces values that differ between runs. */
export const steadyText = (text: string): string =>
  text
    .replace(/(console\s+\S*http:\/\/127\.0\.0\.1:)\d+\/\?token=[\w-]+/, '$1CONSOLE/?token=TOKEN')
    .replace(/(MCP\s+\S*http:\/\/127\.0\.0\.1:)\d+/, '$1MCP')
    .replaceAll(/(http:\/\/127\.0\.0\.1:)\d+(?=\/agents\/|\s+A2A)/g, '$1GATEWAY')
    .replaceAll(/(upstream http:\/\/127\.0\.0\.1:)\d+/g, '$1OWN')
    .replaceAll(/(curl -s http:\/\/127\.0\.0\.1:)\d+/g, '$1OWN')
    .replaceAll(/\n(?:\n {2}! [Pp]ort \d+ is in use.*)+/g, '')
    .replace('to stop.\n\n\n', 'to stop.\n\n')
    .replace(packageJson.version, 'VERSION');

/** Returns the text output of `dragoman up`. */
export const runUp = async (env: Record<string, string>): Promise<string> => {
  const running = runDragoman(['up'], { env });
  await running.prints(/Press Ctrl-C to stop/);
  return (await running.stop()).stdout;
};
