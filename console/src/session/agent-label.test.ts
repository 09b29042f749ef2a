import { expect, it } from 'vitest';
import { agentLabel } from './agent-label.ts';

it('distinguishes agents of one name by the shortest part of their URL', () => {
  const agent = (name: string, url: string) => ({ id: url, name, url });
  const all = [
    agent('Caravan', 'http://127.0.0.1:4000/agents/caravan'),
    agent('Caravan', 'http://127.0.0.1:4711/'),
    agent('Interpreter', 'http://127.0.0.1:4712/'),
    agent('Echo', 'https://one.example/'),
    agent('Echo', 'https://two.example/echo/'),
  ];
  expect(all.map((each) => agentLabel(each, all))).toEqual([
    ':4000/agents/caravan · Caravan',
    ':4711 · Caravan',
    'Interpreter',
    'one.example · Echo',
    'two.example/echo · Echo',
  ]);
});
