import { describe, expect, it } from 'vitest';
import { isAddressedTo, type MountedMessage, resolveMountedUrl } from './mounted-url.ts';

describe('resolveMountedUrl', () => {
  it.each([
    ['/tasks', '/agent/tasks', '', '/tasks', '/agent'],
    ['/tasks', '/agent/tasks?page=/tasks', '', '/tasks', '/agent'],
    ['/', '/agent', '', '/', '/agent'],
    ['/', '/agent/', '', '/', '/agent'],
    ['/', '/agent?x=1', '', '/', '/agent'],
    ['/tasks', '/agent/tasks', '/agent', '/agent/tasks', ''],
    ['/', '/agent', '/agent', '/agent', ''],
    ['/agent/tasks', '/api/agent/tasks', '/agent', '/agent/tasks', '/api'],
    ['/tasks', '/agents/tasks', '/agent', '/tasks', '/agents'],
    ['/rewritten', '/other', '', '/rewritten', ''],
  ])('splits %s of %s with the base path "%s"', (path, originalUrl, basePath, local, mountPath) => {
    expect(resolveMountedUrl(path, originalUrl, basePath)).toEqual({ path: local, mountPath });
  });
});

describe('isAddressedTo', () => {
  it.each([
    [{ url: '/agent' }, true],
    [{ url: '/agent?x' }, true],
    [{ url: '/agent/tasks' }, true],
    [{ url: '/agents' }, false],
    [{ url: '/' }, false],
    [{ url: '/tasks', originalUrl: '/agent/tasks' }, true],
    [{ url: '/agent/tasks', originalUrl: '/api/agent/tasks' }, true],
    [{ url: '/tasks', originalUrl: '/agents/tasks' }, false],
  ])('returns for %j with the base path /agent: %s', (request, expected) => {
    expect(isAddressedTo(request as MountedMessage, '/agent')).toBe(expected);
  });
});
