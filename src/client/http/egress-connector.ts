import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';

type Connector = buildConnector.connector;

/**
 * Creates an undici connector that connects only to IP addresses that the egress policy allows.
 *
 * @param build - `buildConnector` of undici, which is loaded lazily.
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
      // An exception of the policy may be limited to a port, so each port has its own lookup.
      connector = build({ ...options, ...tls, autoSelectFamily: true, lookup: policy.lookupFor(port) });
      byPort.set(port, connector);
    }
    return connector;
  }

  return (target, done) => {
    const { hostname, protocol } = target;
    const port = Number(target.port) || (protocol === 'https:' ? 443 : 80);
    try {
      // Node does not call the lookup for IP addresses.
      if (isIP(hostname) !== 0) policy.checkAddress(hostname, hostname, port);
    } catch (thrown) {
      done(thrown as Error, null);
      return;
    }
    // The types of undici omit the returned socket.
    const socket = connectorFor(port)(target, done) as Socket | undefined;
    if (onConnect && socket)
      socket.on('connectionAttempt', (address: string) => {
        onConnect(address, `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`);
      });
  };
}
