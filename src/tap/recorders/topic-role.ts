/** Purpose of a mesh topic and its owner. */
export interface TopicRole {
  readonly role: 'request' | 'status' | 'response' | 'discovery' | 'other';
  /** Agent, gateway or client that owns the topic. */
  readonly party?: string;
  /** Task in the topic. */
  readonly taskId?: string;
}

const patterns: readonly [RegExp, TopicRole['role']][] = [
  [/\/a2a\/v1\/agent\/request\/([^/]+)$/, 'request'],
  [/\/a2a\/v1\/(?:gateway|agent)\/status\/([^/]+)(?:\/(.+))?$/, 'status'],
  [/\/a2a\/v1\/(?:gateway|agent|client)\/response\/([^/]+)(?:\/(.+))?$/, 'response'],
  [/\/a2a\/v1\/discovery\//, 'discovery'],
];

/** Classifies a topic of `MeshTopics` in any namespace. */
export function classifyTopic(topic: string): TopicRole {
  for (const [pattern, role] of patterns) {
    const match = pattern.exec(topic);
    if (!match) continue;
    const [, party, taskId] = match;
    return { role, ...(party !== undefined && { party }), ...(taskId !== undefined && { taskId }) };
  }
  return { role: 'other' };
}
