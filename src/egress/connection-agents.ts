import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as secure } from 'node:tls';
import { A2AError } from '../protocol/errors.ts';
import type { EgressOptions } from './egress-options.ts';

/** What the connections of a policy have to go through. */
export interface ConnectionChecks extends Pick<EgressOptions, 'tls' | 'onConnect'> {
  connectTimeout: number;
  lookupFor(port: number): LookupFunction;
  /** Throws for an address that is forbidden. */
  checkAddress(address: string, host: string, port: number): void;
}

type Done = (error: Error | null, socket: Duplex) => void;
type Opening = ClientRequestArgs & { servername?: string };

/** Idle connections close before most servers would close them, so that no request runs into the closing. */
const pooling: AgentOptions = { keepAlive: true, maxFreeSockets: 16, timeout: 4000, scheduling: 'lifo' };

/** Makes the agent for `http:`; whatever it connects to has passed the gate. */
export function httpConnectionAgent(gate: ConnectionChecks): Agent {
  return new (class extends Agent {
    override createConnection(options: Opening, done?: Done): undefined {
      open(gate, options, false, done);
    }
  })(pooling);
}

/** Makes the agent for `https:`; whatever it connects to has passed the gate. */
export function httpsConnectionAgent(gate: ConnectionChecks): SecureAgent {
  return new (class extends SecureAgent {
    override createConnection(options: Opening, done?: Done): undefined {
      open(gate, options, true, done);
    }
  })(pooling);
}

/** The agents of a policy, made when they are needed. */
export interface ConnectionAgents {
  for(url: URL): Agent;
  /** Ends all connections. */
  close(): void;
}

/** Keeps an agent for each scheme. */
export function createConnectionAgents(gate: ConnectionChecks): ConnectionAgents {
  const open = new Map<string, Agent>();
  return {
    for({ protocol }) {
      const agent =
        open.get(protocol) ??
        (protocol === 'https:' ? httpsConnectionAgent(gate) : httpConnectionAgent(gate));
      open.set(protocol, agent);
      return agent;
    },
    close() {
      for (const agent of open.values()) agent.destroy();
      open.clear();
    },
  };
}

/** Opens a connection and hands it over when the other end is known to be allowed; nothing is sent before. */
function open(gate: ConnectionChecks, options: Opening, isSecure: boolean, done: Done = () => {}): void {
  const host = options.host ?? '';
  const port = Number(options.port);
  const origin = `${isSecure ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  let socket: Socket | undefined;
  let isOver = false;

  // Stays with the socket, which may fail again after it was given up.
  const fail = (thrown: unknown): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    socket?.destroy();
    // An agent that hears of an error looks for no socket.
    done(thrown as Error, undefined as unknown as Duplex);
  };
  const succeed = (ready: Socket): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    done(null, ready);
  };
  const timer = setTimeout(() => {
    fail(new A2AError('TIMEOUT', `${origin} took too long to connect`, { hint: 'Raise `connectTimeout`.' }));
  }, gate.connectTimeout);

  const onConnect = (plain: Socket): void => {
    const { remoteAddress } = plain;
    if (remoteAddress === undefined) {
      fail(new Error('The connection closed at once'));
      return;
    }
    try {
      gate.checkAddress(remoteAddress, host, port);
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
    const wrapped = secure({ ...gate.tls, socket: plain, host, servername, ALPNProtocols });
    wrapped.on('error', fail);
    wrapped.once('secureConnect', () => succeed(wrapped));
  };

  try {
    // A lookup is never asked about what is an address already.
    if (isIP(host) !== 0) gate.checkAddress(host, host, port);
    const plain = connect({ host, port, lookup: gate.lookupFor(port), autoSelectFamily: true });
    socket = plain;
    plain.on('error', fail);
    plain.on('connectionAttempt', (address: string) => gate.onConnect?.(address, origin));
    plain.once('connect', () => onConnect(plain));
  } catch (thrown) {
    fail(thrown);
  }
}
