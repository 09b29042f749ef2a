import { describe, expect, it } from 'vitest';
import { checkAgentName, isTopic, MeshTopics } from './mesh-topics.ts';

describe('MeshTopics', () => {
  it('ignores slashes at the end of the namespace', () => {
    for (const namespace of ['myorg/dev', 'myorg/dev/', 'myorg/dev//']) {
      const topics = new MeshTopics(namespace);
      expect(topics.request('A')).toBe('myorg/dev/a2a/v1/agent/request/A');
      expect(topics.response('gateway', 'g', 't')).toBe('myorg/dev/a2a/v1/gateway/response/g/t');
      expect(topics.status('agent', 'Boss', 't')).toBe('myorg/dev/a2a/v1/agent/status/Boss/t');
      expect(topics.inbox('gateway', 'g')).toEqual([
        'myorg/dev/a2a/v1/gateway/status/g/>',
        'myorg/dev/a2a/v1/gateway/response/g/>',
      ]);
      expect(topics.agentCards).toBe('myorg/dev/a2a/v1/discovery/agentcards');
      expect(topics.clientResponse('c')).toBe('myorg/dev/a2a/v1/client/response/c');
    }
  });

  it('rejects empty namespaces and wildcards', () => {
    for (const namespace of ['', '/', 'a/*', '>', 'a//b', 'a/+']) {
      expect(() => new MeshTopics(namespace), namespace).toThrow(/namespace must/);
    }
  });

  it('accepts only names of one topic level', () => {
    for (const name of ['', 'a/b', 'a*', '>', 'a b', 'a#', '+', 'a\n']) {
      expect(() => checkAgentName(name), name).toThrow(/name must/);
    }
    expect(checkAgentName('Ünïcode_Agent-1.0')).toBe('Ünïcode_Agent-1.0');
  });

  it('limits topics to 250 bytes and 128 levels', () => {
    const topics = new MeshTopics('n');
    const rest = 250 - topics.request('x').length + 1;
    expect(topics.request('x'.repeat(rest))).toHaveLength(250);
    expect(() => topics.request('x'.repeat(rest + 1))).toThrow(/250 bytes/);
    expect(() => topics.request('ü'.repeat(rest))).toThrow(/250 bytes/);
    expect(isTopic(Array.from({ length: 129 }, () => 'a').join('/'))).toBe(false);
  });
});
