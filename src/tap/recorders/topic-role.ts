/** Purpose of a mesh topic and its owner. */
export interface TopicRole {
  readonly role: 'request' | 'status' | 'response' | 'discovery' | 'other';
  /** Agent, gateway or client that owns the topic. */
  readonly party?: string;
}

const root = '/a2a/v1/';

/** Classifies a topic of `MeshTopics` in any namespace. */
export function classifyTopic(topic: string): TopicRole {
  const at = topic.indexOf(root);
  if (at < 0) return { role: 'other' };
  const [scope = '', kind = '', party = '', ...rest] = topic.slice(at + root.length).split('/');
  if (scope === 'discovery' && kind !== '') return { role: 'discovery' };
  const role = roles.get(`${scope}/${kind}`);
  if (role === undefined || party === '' || (role === 'request' && rest.length > 0)) return { role: 'other' };
  return { role, party };
}

const roles: ReadonlyMap<string, TopicRole['role']> = new Map([
  ['agent/request', 'request'],
  ['agent/status', 'status'],
  ['gateway/status', 'status'],
  ['agent/response', 'response'],
  ['gateway/response', 'response'],
  ['client/response', 'response'],
]);
