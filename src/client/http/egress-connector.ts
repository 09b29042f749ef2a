import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';

type Connector = buildConnector.connector;

/**
 * Opens connections for undici that keep to a policy: to an address that the policy has looked at, and no other.
 *
 * @param build - makes a connector of undici, which is loaded late.
 */
export function egressConnector(
  build: typeof buildConnector,
  policy: EgressPolicy,
  options: buildConnector.BuildOptions,
): Connector {
  const { tls, onConnect } = policy.connecting;
  const byPort = new Map<number, Connector>();

  function connectorFor(port: number): Connector {
    let connector = byPort.get(port);
    if (!connector) {
      // An exception may name a port, so that each has a lookup of its own.
      connector = build({ ...options, ...tls, autoSelectFamily: true, lookup: policy.lookupFor(port) });
      byPort.set(port, connector);
    }
    return connector;
  }

  return (wanted, done) => {
    const { hostname, protocol } = wanted;
    const port = Number(wanted.port) || (protocol === 'https:' ? 443 : 80);
    try {
      // A lookup is never asked about what is an address already.
      if (isIP(hostname) !== 0) policy.checkAddress(hostname, hostname, port);
    } catch (thrown) {
      done(thrown as Error, null);
      return;
    }
    // The types keep quiet about the socket that comes back.
    const socket = connectorFor(port)(wanted, done) as Socket | undefined;
    if (onConnect && socket)
      socket.on('connectionAttempt', (address: string) => {
        onConnect(address, `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`);
      });
  };
}
