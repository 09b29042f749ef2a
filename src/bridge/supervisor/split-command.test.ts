import { describe, expect, it } from 'vitest';
import { splitCommand } from './split-command.ts';

describe('a command line', () => {
  it.each<[string, string[]]>([
    ['node agent.js --port 4000', ['node', 'agent.js', '--port', '4000']],
    ['  node \t agent.js\n--x ', ['node', 'agent.js', '--x']],
    [`node 'my agent.js' "a b"`, ['node', 'my agent.js', 'a b']],
    [`node --name='a b'c"d e"`, ['node', '--name=a bcd e']],
    [`node '' ""`, ['node', '', '']],
    [String.raw`node my\ agent.js \'x\' \\`, ['node', 'my agent.js', "'x'", '\\']],
    [String.raw`node "a \"b\" \\ \$HOME \n"`, ['node', String.raw`a "b" \ $HOME \n`]],
    [String.raw`node 'a\b'`, ['node', String.raw`a\b`]],
    ['node a\\\nb "c\\\nd"', ['node', 'ab', 'cd']],
    ['node $HOME *.js # x http://a/?b=1&c=2', ['node', '$HOME', '*.js', '#', 'x', 'http://a/?b=1&c=2']],
    [`sh -c 'a && b | c > d'`, ['sh', '-c', 'a && b | c > d']],
    [`node "&&" \\;`, ['node', '&&', ';']],
    ['нод «é»', ['нод', '«é»']],
  ])('is split: %s', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  it.each([
    ["node 'agent.js", /has a ' that is not closed/],
    ['node "agent.js', /has a " that is not closed/],
    ['node agent.js \\', /ends with a backslash/],
    ['   ', /names no program/],
    [`''`, /names no program/],
    ['node a.js && node b.js', /has &&, but there is no shell: write sh -c/],
    ['node a.js > log', /has >, but/],
    ['node a.js 2>&1', /has 2>&1, but/],
    ['node a.js | tee', /has \|, but/],
    ['node a.js &', /has &, but/],
  ])('is refused: %s', (line, why) => {
    expect(() => splitCommand(line)).toThrow(why);
  });
});
