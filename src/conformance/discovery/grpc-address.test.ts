import { expect, it } from 'vitest';
import { grpcOrigin } from './grpc-address.ts';

it.each([
  ['agents.example.com:50051', 'http://a.example/card', 'http://agents.example.com:50051'],
  ['agents.example.com:50051', 'https://a.example/card', 'https://agents.example.com:50051'],
  ['localhost:4000', 'http://localhost:4000', 'http://localhost:4000'],
  ['[::1]:4000', 'http://localhost:4000', 'http://[::1]:4000'],
  ['dns:///agents.example.com:443', 'https://a.example', 'https://agents.example.com'],
  ['https://grpc.example.com/a2a', 'http://a.example', 'https://grpc.example.com'],
  ['grpc://agents.example.com:50051', 'https://a.example', 'http://agents.example.com:50051'],
  ['grpcs://agents.example.com', 'http://a.example', 'https://agents.example.com'],
  ['ftp://agents.example.com', 'http://a.example', undefined],
  ['not an address', 'http://a.example', undefined],
  ['', 'http://a.example', undefined],
])('reads %s in a card at %s as %s', (address, cardUrl, origin) => {
  expect(grpcOrigin(address, cardUrl)).toBe(origin);
});
