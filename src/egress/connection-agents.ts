import type { Agent, AgentOptions, ClientRequestArgs } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nodeModule } from '../primitives/node/node-module.ts';
import { A2AError } from '../protocol/errors.ts';
import type { EgressOptions } from './egress-options.ts';
import { ipVersion } from './rules/ip-address.ts';

/** Policy checks of a connection. */
export interface ConnectionChecks extends Pick<EgressOptions, 'tls' | 'onConnect'> {
  connectTimeout: number;
  lookupFor(port: number): LookupFunction;
  /** Throws if the address is denied. */
  checkAddress(address: string, host: string, port: number): void;
}

type ConnectCallback = (error: Error | null, socket: Duplex) => void;
type ConnectionOptions = ClientRequestArgs & { servername?: string };

/** Idle connections close before most servers close them, so that requests do not hit a closing connection. */
const poolOptions: AgentOptions = { keepAlive: true, maxFreeSockets: 16, timeout: 4000, scheduling: 'lifo' };

/** Creates the `node:http` agent; it opens only allowed connections. */
export function httpConnectionAgent(checks: ConnectionChecks): Agent {
  return new (class extends nodeModule('node:http').Agent {
    override createConnection(options: ConnectionOptions, done?: ConnectCallback): undefined {
      openConnection(checks, options, false, done);
    }
  })(poolOptions);
}

/** Creates the `node:https` agent; it opens only allowed connections. */
export function httpsConnectionAgent(checks: ConnectionChecks): SecureAgent {
  return new (class extends nodeModule('node:https').Agent {
    override createConnection(options: ConnectionOptions, done?: ConnectCallback): undefined {
      openConnection(checks, options, true, done);
    }
  })(poolOptions);
}

/** Connection agents of a policy, created on demand. */
export interface ConnectionAgents {
  for(url: URL): Agent;
  /** Closes all connections. */
  close(): void;
}

/** Creates one connection agent per scheme. */
export function createConnectionAgents(checks: ConnectionChecks): ConnectionAgents {
  const agents = new Map<string, Agent>();
  return {
    for({ protocol }) {
      const agent =
        agents.get(protocol) ??
        (protocol === 'https:' ? httpsConnectionAgent(checks) : httpConnectionAgent(checks));
      agents.set(protocol, agent);
      return agent;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** Opens a connection and verifies the remote address before any data is sent. */
function openConnection(
  checks: ConnectionChecks,
  options: ConnectionOptions,
  isSecure: boolean,
  done: ConnectCallback = () => {},
): void {
  const host = options.host ?? '';
  const port = Number(options.port);
  const origin = `${isSecure ? 'https' : 'http'}://${ipVersion(host) === 6 ? `[${host}]` : host}:${port}`;
  let socket: Socket | undefined;
  let isSettled = false;

  // Stays registered: the socket may emit another error after it was destroyed.
  const fail = (thrown: unknown): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    socket?.destroy();
    // After an error the agent ignores the socket.
    done(thrown as Error, undefined as unknown as Duplex);
  };
  const succeed = (ready: Socket): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    done(null, ready);
  };
  const timer = setTimeout(() => {
    fail(new A2AError('TIMEOUT', `Connection to ${origin} timed out`, { hint: 'Raise `connectTimeout`.' }));
  }, checks.connectTimeout);

  const onConnect = (plain: Socket): void => {
    const { remoteAddress } = plain;
    if (remoteAddress === undefined) {
      fail(new Error('The connection closed immediately'));
      return;
    }
    try {
      checks.checkAddress(remoteAddress, host, port);
    } catch (thrown) {
      fail(thrown);
      return;
    }
    if (!isSecure) {
      succeed(plain);
      return;
    }
    const { servername } = options;
    const ALPNProtocols = ['http/1.1'];
    const wrapped = nodeModule('node:tls').connect({
      ...checks.tls,
      socket: plain,
      host,
      servername,
      ALPNProtocols,
    });
    wrapped.on('error', fail);
    wrapped.once('secureConnect', () => succeed(wrapped));
  };

  try {
    // Sockets do not call lookup for IP addresses.
    if (ipVersion(host) !== 0) checks.checkAddress(host, host, port);
    const plain = nodeModule('node:net').connect({
      host,
      port,
      lookup: checks.lookupFor(port),
      autoSelectFamily: true,
    });
    socket = plain;
    plain.on('error', fail);
    plain.on('connectionAttempt', (address: string) => checks.onConnect?.(address, origin));
    plain.once('connect', () => onConnect(plain));
  } catch (thrown) {
    fail(thrown);
  }
}
