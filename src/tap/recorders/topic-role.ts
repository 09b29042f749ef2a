/** What a topic of a mesh is for, and whose it is. */
export interface TopicRole {
  readonly role: 'request' | 'status' | 'response' | 'discovery' | 'other';
  /** The agent, gateway or client whose topic it is. */
  readonly party?: string;
  /** The task that it is about. */
  readonly taskId?: string;
}

const shapes: readonly [RegExp, TopicRole['role']][] = [
  [/\/a2a\/v1\/agent\/request\/([^/]+)$/, 'request'],
  [/\/a2a\/v1\/(?:gateway|agent)\/status\/([^/]+)(?:\/(.+))?$/, 'status'],
  [/\/a2a\/v1\/(?:gateway|agent|client)\/response\/([^/]+)(?:\/(.+))?$/, 'response'],
  [/\/a2a\/v1\/discovery\//, 'discovery'],
];

/** Reads a topic as `Topics` of the mesh writes them, whatever its namespace is. */
export function classifyTopic(topic: string): TopicRole {
  for (const [shape, role] of shapes) {
    const found = shape.exec(topic);
    if (!found) continue;
    const [, party, taskId] = found;
    return { role, ...(party !== undefined && { party }), ...(taskId !== undefined && { taskId }) };
  }
  return { role: 'other' };
}
