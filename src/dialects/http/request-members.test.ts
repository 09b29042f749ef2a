import { describe, expect, it } from 'vitest';
import { listRequestMembers } from './request-members.ts';
import type { OperationVariant } from './operation-request.ts';

function membersOf(
  version: OperationVariant['version'],
  transport: OperationVariant['transport'],
  operation: OperationVariant['operation'],
) {
  return listRequestMembers({ version, transport, operation });
}

const required = (...variant: Parameters<typeof membersOf>): string[] =>
  membersOf(...variant)
    .filter(({ isRequired }) => isRequired)
    .map(({ path }) => path);

describe('listRequestMembers', () => {
  it('finds the required members of a message in each version', () => {
    expect(required('1.0', 'JSONRPC', 'send').slice(0, 4)).toEqual([
      'message',
      'message.messageId',
      'message.role',
      'message.parts',
    ]);
    expect(required('0.3', 'HTTP+JSON', 'send').slice(0, 4)).toEqual([
      'message',
      'message.messageId',
      'message.role',
      'message.content',
    ]);
    expect(required('0.1', 'JSONRPC', 'send')).toEqual(
      expect.arrayContaining(['id', 'message', 'message.role', 'message.parts']),
    );
    expect(required('0.1', 'JSONRPC', 'send')).not.toContain('message.messageId');
  });

  it('names type and rule as the codec does', () => {
    const members = new Map(membersOf('1.0', 'JSONRPC', 'send').map((each) => [each.path, each]));
    expect(members.get('message.role')).toMatchObject({ rule: 'must be ROLE_USER or ROLE_AGENT' });
    expect(members.get('message')).toMatchObject({ type: 'object', rule: 'must be an object' });
    expect(members.get('message.metadata')).toMatchObject({ type: 'any object', isRequired: false });
    expect(members.get('message.parts[].data')).toMatchObject({
      type: 'any JSON',
      rule: 'must have one of text, raw, url and data',
    });
    expect(members.get('configuration.historyLength')).toMatchObject({ type: 'number' });
    expect([...members.keys()].filter((path) => path.includes('metadata.'))).toEqual([]);
  });

  it('marks alternatives in a list as optional', () => {
    for (const path of ['message.parts[].text', 'message.parts[].file', 'message.parts[].data'])
      expect(membersOf('0.3', 'JSONRPC', 'send').find((each) => each.path === path)?.isRequired).toBe(false);
  });

  it('uses the names of each transport', () => {
    const names = (...variant: Parameters<typeof membersOf>) => membersOf(...variant).map(({ path }) => path);
    expect(names('0.3', 'JSONRPC', 'getPushConfig')).toEqual(['id', 'pushNotificationConfigId']);
    expect(names('0.3', 'GRPC', 'getPushConfig')).toEqual(['name']);
    expect(names('1.0', 'GRPC', 'getPushConfig')).toEqual(['taskId', 'id', 'tenant']);
  });

  it('lists no members of operations that the version does not define', () => {
    expect(membersOf('0.1', 'JSONRPC', 'listTasks')).toEqual([]);
    expect(membersOf('0.1', 'HTTP+JSON', 'send')).toEqual([]);
    expect(membersOf('0.3', 'GRPC', 'listTasks')).toEqual([]);
  });
});
