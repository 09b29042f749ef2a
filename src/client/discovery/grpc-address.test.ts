import { describe, expect, it } from 'vitest';
import { parseGrpcAddress } from './grpc-address.ts';

describe('parseGrpcAddress', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['agents.example.com:50051', undefined, 'https://agents.example.com:50051/'],
    ['localhost:50051', undefined, 'http://localhost:50051/'],
    ['127.0.0.1:443', undefined, 'https://127.0.0.1/'],
    ['[::1]:50051', undefined, 'http://[::1]:50051/'],
    ['agents.example.com', 'http://agents.example.com/card.json', 'http://agents.example.com/'],
    ['localhost:50051', 'https://agents.example.com/card.json', 'https://localhost:50051/'],
    ['agents.example.com:443', 'http://agents.example.com', 'https://agents.example.com/'],
    ['dns:///agents.example.com:50051', undefined, 'https://agents.example.com:50051/'],
    ['dns://8.8.8.8/agents.example.com:50051', undefined, 'https://agents.example.com:50051/'],
    ['dns:agents.example.com', undefined, 'https://agents.example.com/'],
    ['grpc://agents.example.com', undefined, 'http://agents.example.com/'],
    ['GRPCS://agents.example.com:8443', undefined, 'https://agents.example.com:8443/'],
    ['https://agents.example.com/a2a/v1?x=1', 'http://other', 'https://agents.example.com/'],
    ['http://agents.example.com:50051', undefined, 'http://agents.example.com:50051/'],
    ['/relative', 'https://agents.example.com', undefined],
    ['', undefined, undefined],
    ['https://', undefined, undefined],
    ['host:notaport', undefined, undefined],
    ['http://user:secret@agents.example.com', undefined, undefined],
    ['unix:/var/run/agent.sock', undefined, undefined],
  ])('parses %s of the card %s as %s', (address, cardUrl, expected) => {
    expect(parseGrpcAddress(address, cardUrl)?.href).toBe(expected);
  });
});
