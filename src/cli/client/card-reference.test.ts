import { describe, expect, it } from 'vitest';
import { parseCardReference } from './card-reference.ts';

describe('reference of an agent card', () => {
  it.each([
    ['grpc://localhost:4000', 'http://localhost:4000'],
    ['grpcs://agents.example.com', 'https://agents.example.com'],
    ['dns:///agents.example.com:50051', 'https://agents.example.com:50051'],
    ['dns:localhost:4000', 'http://localhost:4000'],
    ['grpc://', 'http://localhost:4000'],
  ])('is not %s, because gRPC has no card there', (reference, url) => {
    expect(() => parseCardReference(reference)).toThrow(
      expect.objectContaining({
        message: `${reference} is an address of gRPC, which has no agent card`,
        hint: `Pass the URL of the agent and the transport, as in -a ${url} --transport GRPC.`,
      }),
    );
  });

  it('is a URL, or a host whose scheme depends on whether it is local', () => {
    expect(parseCardReference('localhost:4000')).toEqual({ url: new URL('http://localhost:4000') });
    expect(parseCardReference('agents.example.com')).toEqual({ url: new URL('https://agents.example.com') });
  });
});
