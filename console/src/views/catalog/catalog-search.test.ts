import { expect, it } from 'vitest';
import type { CatalogEntry } from '../../../../src/console/console-api.ts';
import { type CatalogFilter, listChoices, searchCatalog } from './catalog-search.ts';

const entry = (name: string, more: Partial<CatalogEntry> = {}): CatalogEntry => ({
  name,
  url: `http://${name}`,
  skills: [],
  variants: [],
  security: [],
  ...more,
});
const entries = [
  entry('weather', {
    description: 'Forecasts',
    skills: [{ id: 'rain', name: 'Rain radar', description: 'Shows showers', tags: ['Meteo'] }],
    variants: [
      { version: '1.0', transport: 'JSONRPC' },
      { version: '0.3', transport: 'GRPC' },
    ],
    security: ['bearer'],
  }),
  entry('echo', { variants: [{ version: '1.0', transport: 'GRPC' }] }),
  entry('broken', { error: 'no card' }),
];
const search = (filter: Partial<CatalogFilter>) =>
  searchCatalog(entries, { text: '', version: '', transport: '', security: '', ...filter }).map(
    ({ name }) => name,
  );

it('finds agents by words of name, description and skills', () => {
  expect(search({})).toEqual(['weather', 'echo', 'broken']);
  for (const text of ['WEATHER', 'forecast', 'rain', 'radar rain', 'showers', ' meteo '])
    expect(search({ text }), text).toEqual(['weather']);
  expect(search({ text: 'rain echo' })).toEqual([]);
  expect(search({ text: '(.*)+$' })).toEqual([]);
});

it('finds agents by version and transport of one interface', () => {
  expect(search({ version: '1.0' })).toEqual(['weather', 'echo']);
  expect(search({ transport: 'GRPC' })).toEqual(['weather', 'echo']);
  expect(search({ version: '1.0', transport: 'GRPC' })).toEqual(['echo']);
});

it('finds agents by security, and none of unknown security', () => {
  expect(search({ security: 'bearer' })).toEqual(['weather']);
  expect(search({ security: 'none' })).toEqual(['echo']);
});

it('lists the values that occur, the newest version first', () => {
  expect(listChoices(entries)).toEqual({
    versions: ['1.0', '0.3'],
    transports: ['GRPC', 'JSONRPC'],
    security: ['bearer'],
  });
});
