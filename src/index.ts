/**
 * Dragoman: build, connect and test A2A agents.
 *
 * @module
 */
export { defineAgent } from './engine/local-agent.ts';
export { serve } from './server/node.ts';
