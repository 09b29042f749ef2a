import { describe, expect, it } from 'vitest';
import { splitCommand } from './split-command.ts';

describe('splitCommand', () => {
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
  ])('splits %s', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  it.each([
    ["node 'agent.js", /must not contain an unclosed '/],
    ['node "agent.js', /must not contain an unclosed "/],
    ['node agent.js \\', /must not end with a backslash/],
    ['   ', /must name a program/],
    [`''`, /must name a program/],
    ['node a.js && node b.js', /must not contain &&, because no shell is used: write sh -c/],
    ['node a.js > log', /must not contain >, because/],
    ['node a.js 2>&1', /must not contain 2>&1, because/],
    ['node a.js | tee', /must not contain \|, because/],
    ['node a.js &', /must not contain &, because/],
  ])('rejects %s', (line, message) => {
    expect(() => splitCommand(line)).toThrow(message);
  });
});
