import { describe, expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';
import { useTemporaryModules } from '../../support/cli/temporary-modules.ts';

const modules = useTemporaryModules();

describe('dragoman', () => {
  it.each([
    ['sevre --help', /^error: Unknown command 'sevre'\nhint: Did you mean serve\?/],
    ['help sevre', /^error: Unknown command 'sevre'\nhint: Did you mean serve\?/],
    ['serve', /^error: Missing required argument 'module'\nhint: Run dragoman serve --help for usage\.\n$/],
    [
      'serve examples/echo.js --port 70000',
      /argument '70000' is invalid\nhint: Use a number from 0 .* to 65535\. Run/,
    ],
    ['serve examples/echo.js -o yaml', /\nhint: Allowed choices are text, json\./],
    [
      'completion tcsh',
      /value 'tcsh' is invalid for argument 'shell'\nhint: Allowed choices are bash, zsh, fish\./,
    ],
    ['serve examples', /is a directory/],
    [
      'serve examples/up/caravan.yaml',
      /cannot run .*caravan\.yaml\nhint: Start a mock script with dragoman mock/,
    ],
    ['serve examples/echo.js --store postgres', /^error: Invalid task store "postgres"\nhint: .*sqlite:FILE/],
    ['serve examples/echo.js --store sqlite:', /Invalid task store "sqlite:"/],
    ['serve examples/echo.js --base-path echo', /Invalid base path "echo"\nhint: Start it with a slash/],
    ['serve examples/echo.js --public-url example.com', /Invalid --public-url: example\.com/],
    ['serve examples/echo.js --host 192.0.2.1', /Cannot listen on 192\.0\.2\.1: .*\nhint: .*--host/],
  ])('exits with 2 and a hint for: dragoman %s', async (args, expected) => {
    const { code, stdout, stderr } = await runDragoman(args.split(' ').filter((arg) => arg !== '')).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    ['nothing.mjs', 'export const answer = 42;', 2, /exports no agent\nhint: It exports answer\./],
    ['draft.mjs', 'export default { process() {} };', 2, /wrap it, as in `export default defineAgent/],
    ['lost.mjs', "import 'no-such-package';", 1, /Cannot find package 'no-such-package'/],
  ])('reports the error in the module %s', async (name, text, exitCode, expected) => {
    const { code, stdout, stderr } = await runDragoman(['serve', modules.write(name, text)]).ended;
    expect(stderr).toMatch(expected);
    expect(stdout).toBe('');
    expect(code).toBe(exitCode);
  });

  it('exits with 1 when the task store cannot be opened', async () => {
    const { code, stderr } = await runDragoman([
      'serve',
      'examples/echo.js',
      '--store',
      `sqlite:${modules.directory}/no/x.db`,
    ]).ended;
    expect(stderr).toMatch(/Cannot open the task store file .*no\/x\.db/);
    expect(code).toBe(1);
  });
});
